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
