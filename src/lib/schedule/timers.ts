/** A clock and timers. Tests replace them. */
export interface Timers {
  /** Monotonic milliseconds, unrelated to the time of day. */
  nowMs(): number;
  /** Calls `call` once after `ms` milliseconds. The returned function cancels that. */
  after(ms: number, call: () => void): () => void;
}

export const systemTimers: Timers = {
  nowMs: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** Timers fire up to this part of the interval too early, and would be set again for the same instant. */
const EARLY_PART = 0.02;

/**
 * Like `after`, at the next multiple of the interval: whatever looks as often wakes an idle process once, and not each
 * by itself.
 */
export function afterInStep(timers: Timers, intervalMs: number, call: () => void): () => void {
  return timers.after(msToNextStep(timers, intervalMs), call);
}

/** The time until the next multiple of the interval. */
export function msToNextStep(timers: Pick<Timers, "nowMs">, intervalMs: number): number {
  const earlyMs = intervalMs * EARLY_PART;
  return intervalMs - ((timers.nowMs() + earlyMs) % intervalMs) + earlyMs;
}

/** Resolves once the work has ended, but after `waitMs` at the latest. Rejects if the work does. */
export async function atMost(timers: Timers, waitMs: number, work: Promise<unknown>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const cancel = timers.after(waitMs, resolve);
  try {
    await Promise.race([work, over]);
  } finally {
    cancel();
  }
}

/** Resolves, or rejects, with the work, or resolves once the signal aborts. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  signal.addEventListener("abort", end);
  try {
    if (!signal.aborted) await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** Resolves after `ms` milliseconds, or once the signal aborts. */
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

/** Resolves after `ms` milliseconds, or once the signal aborts. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export const wait: Wait = (ms, signal) => pause(systemTimers, ms, signal);

/** How long work may go on in every turn before the event loop rests for a millisecond, if it needs rest. */
const BUSY_MS_MAX = 20;

let needsRest = false;
let restedMs = performance.now();

/**
 * For a runtime whose event loop polls the network only when it is idle: work that continues turn after turn would
 * otherwise block all requests.
 */
export function restBetweenTurns(): void {
  needsRest = true;
}

/** Resolves after other events had their turn. Long work awaits it every few milliseconds. */
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
