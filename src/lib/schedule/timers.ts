/* Waiting: for a time, or for the next turn of the event loop. */

/** When things happen: tests turn time by hand. */
export interface Timers {
  /** Grows, and says nothing of the time of day. */
  nowMs(): number;
  /** Calls it once after so many milliseconds, unless what this returns is called before. */
  after(ms: number, call: () => void): () => void;
}

export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves once the work has ended, or after so long; rejects as the work does. */
export async function atMost(timers: Timers, waitMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(waitMs, resolve);
  try {
    await Promise.race([work, over]);
  } finally {
    cancel();
  }
}

/** Resolves after so many milliseconds, or once the signal comes. */
export function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = timers.after(ms, end);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();

    function end(): void {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    }
  });
}

/** Resolves after this number of milliseconds, or once the signal comes. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const wait: Wait = (ms, signal) => pause(systemTimers, ms, signal);

/** How long work may go on in every turn before the event loop rests for a millisecond, if it needs rest. */
const BUSY_MS_MAX = 20;

let needsRest = false;
let restedMs = performance.now();

/**
 * Called once by a runtime whose event loop looks at the network only when it has nothing else to do: work that asks
 * for turn after turn would keep all requests waiting until it ends.
 */
export function restBetweenTurns(): void {
  needsRest = true;
}

/** Resolves after what waits on the event loop has had its turn: long work asks for it every few milliseconds. */
export function nextTurn(busyMsMax = BUSY_MS_MAX): Promise<void> {
  const isRestDue = needsRest && performance.now() - restedMs >= busyMsMax;
  return new Promise((resolve) => {
    if (isRestDue) setTimeout(() => resolve(rested()));
    else setImmediate(resolve);
  });
}

function rested(): void {
  restedMs = performance.now();
}
