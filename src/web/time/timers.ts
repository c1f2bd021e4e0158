/** Tests pass their own timers, and advance the time by hand. */
export interface Timers {
  /** Calls `call` once after `ms` milliseconds, unless the returned function is called before. */
  after(ms: number, call: () => void): () => void;
}

export const browserTimers: Timers = {
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
