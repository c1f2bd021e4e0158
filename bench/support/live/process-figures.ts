import { readFileSync } from "node:fs";
import { assert } from "../../../src/lib/assert.ts";
import { readCpuSeconds } from "../peers/cpu.ts";

/** The processor time of a process during some work, in percent of a core. */
export async function corePercent(pid: number, work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  const before = cpuSeconds(pid);
  await work();
  return ((cpuSeconds(pid) - before) / (performance.now() - startMs)) * 100_000;
}

function cpuSeconds(pid: number): number {
  const seconds = readCpuSeconds(pid);
  assert(seconds !== null, "the system tells what processor time a process used");
  return seconds;
}

/** Resident memory, in MB. */
export function residentMegabytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return (Number(kilobytes) * 1024) / 1e6;
}
