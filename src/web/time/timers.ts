/** When things happen later. Tests pass their own, and let its time pass by hand. */
export interface Timers {
  /** Calls once after `ms` milliseconds, unless the function that it returns is called before. */
  after(ms: number, call: () => void): () => void;
}

export const browserTimers: Timers = {
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
