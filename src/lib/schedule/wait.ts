import { setTimeout as timeout } from "node:timers/promises";

/** Resolves after so many milliseconds, or once the signal comes. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const wait: Wait = async (ms, signal) => {
  try {
    await timeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
};
