import { pause, systemTimers } from "./timers.ts";

/** Resolves after so many milliseconds, or once the signal comes. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const wait: Wait = (ms, signal) => pause(systemTimers, ms, signal);
