import { pause, systemTimers, type Timers } from "../lib/schedule/timers.ts";
import { StreamError } from "./stream/stream.ts";

const RETRY_MS = 500;

/** Servers that start beside us have a majority by then. */
const WAIT_MS = 60_000;

/** Who stops the process ends the wait too. */
const NEVER_STOPPED = new AbortController().signal;

/** Asks a cluster again where it can't be reached yet, for a minute, or until the signal is aborted. */
export async function patiently<Value>(
  ask: () => Promise<Value>,
  onWaiting: (error: unknown) => void,
  signal: AbortSignal = NEVER_STOPPED,
  timers: Timers = systemTimers,
): Promise<Value> {
  const endMs = timers.nowMs() + WAIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isPassing = error instanceof StreamError && error.kind === "unreachable";
      if (!isPassing || signal.aborted || timers.nowMs() >= endMs) throw error;
      onWaiting(error);
      await pause(timers, RETRY_MS, signal);
    }
  }
}
