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
