import { existsSync, readdirSync, readFileSync } from "node:fs";

/** What the system says of a process. */
export interface ProcessFigures {
  readonly residentBytes: number;
  /** At its highest since the program was started. */
  readonly peakResidentBytes: number;
  readonly descriptors: number;
  readonly threads: number;
  /** Of processor time since its start. */
  readonly cpuSeconds: number;
}

/** Whether this system tells: Linux does, in `/proc`. */
export const hasProcessFigures = existsSync("/proc/self/status");

const TICKS_PER_SECOND = 100; // USER_HZ, the same on every Linux that these tests run on.

export function readProcessFigures(pid: number): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name comes first, in parentheses, and may hold blanks; user and system time are fields 14 and 15 (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    residentBytes: numberAfter("VmRSS", status) * 1024,
    peakResidentBytes: numberAfter("VmHWM", status) * 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    threads: numberAfter("Threads", status),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  };
}

function numberAfter(name: string, status: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN);
}
