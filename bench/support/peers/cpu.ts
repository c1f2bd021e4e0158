import { readFileSync } from "node:fs";

const TICKS_PER_SECOND = 100; // The unit of /proc on every Linux that Bun supports.
const USER_TIME = 11; // The field index after the name in /proc/PID/stat; system time follows.

/** Processor seconds of a process and its children; null if the system does not tell. */
export function readCpuSeconds(pid: number): number | null {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    const pids = [String(pid), ...children.filter((child) => child !== "")];
    return pids.reduce((seconds, one) => seconds + readOwnSeconds(one), 0);
  } catch {
    return null;
  }
}

function readOwnSeconds(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // The name may contain spaces and brackets.
  return (Number(fields[USER_TIME]) + Number(fields[USER_TIME + 1])) / TICKS_PER_SECOND;
}
