import { readFileSync } from "node:fs";

const NS_PER_MS = 1e6;

/**
 * Measures the percentage of time since the start in which a process waited for a core: on a shared machine, wall-clock
 * figures are unreliable. Null if the system does not tell.
 */
export function startWaitMeter(pid: number): () => number | null {
  const startMs = performance.now();
  const before = readWaitNs(pid);
  return () => {
    const after = readWaitNs(pid);
    if (before === null || after === null) return null;
    return ((after - before) / NS_PER_MS / (performance.now() - startMs)) * 100;
  };
}

/** The JavaScript thread's time on a core, time waiting for one, and turns. */
function readWaitNs(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]);
  } catch {
    return null;
  }
}
