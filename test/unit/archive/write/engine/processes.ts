import { readdirSync, readFileSync } from "node:fs";

export interface ProcessSeen {
  readonly pid: number;
  readonly niceness: number;
}

/** What Linux says of the processes that this one began; none elsewhere. */
export function childrenOf(parent: number): ProcessSeen[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat !== null)
    .filter(([, parentPid]) => Number(parentPid) === parent)
    .map((stat) => ({ pid: stat.pid, niceness: Number(stat[16]) }));
}

/** Names of the variables that a process was begun with. */
export function environmentOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/environ`, "utf8")
    .split("\0")
    .map((variable) => variable.split("=")[0]!);
}

/** The processor time that a process has used, in ticks of 10 ms; infinite where the machine does not say. */
export function processorTicksOf(pid: number): number {
  const stat = process.platform === "linux" ? statOf(`${pid}`) : null;
  return stat === null ? Number.POSITIVE_INFINITY : Number(stat[11]) + Number(stat[12]);
}

/** Fields behind the name, which may hold spaces: the state, the parent's number, and so on. */
function statOf(pid: string) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Object.assign(text.slice(text.lastIndexOf(")") + 2).split(" "), { pid: Number(pid) });
  } catch {
    return null; // Gone meanwhile.
  }
}
