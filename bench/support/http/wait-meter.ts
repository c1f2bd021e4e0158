import { readFileSync } from "node:fs";

const NS_PER_MS = 1e6;

/**
 * Tells, when asked, for how much of the time since the start a process could have run but had no core, in percent: a
 * machine that others use makes figures of whole seconds worth little. Null where the system doesn't tell.
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

/** Of the first thread, which runs the JavaScript: time on a core, time spent waiting for one, turns. */
function readWaitNs(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]);
  } catch {
    return null;
  }
}
