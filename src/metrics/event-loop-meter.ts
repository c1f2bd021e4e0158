import { DELAY_BOUNDS_SECONDS, Durations } from "./durations.ts";

/** How late timers fire: what every request waits before anything is done for it. */
export interface EventLoopMeter {
  readonly delays: Durations;
  stop(): void;
}

/** A look each so often sees every wait that is longer, and costs a thousandth of a percent. */
const LOOK_MS = 50;

/** Longer than anything that requests do by themselves: something is wrong with the machine, or with us. */
const HELD_UP_MS = 1000;

/** `onHeldUp` hears of every wait of more than a second, when it is over. */
export function watchEventLoop(onHeldUp: (delayMs: number) => void): EventLoopMeter {
  const delays = new Durations(DELAY_BOUNDS_SECONDS);
  let timer = setTimeout(look, LOOK_MS);
  let dueMs = performance.now() + LOOK_MS;

  function look(): void {
    const nowMs = performance.now();
    const delayMs = Math.max(0, nowMs - dueMs);
    delays.add(delayMs);
    if (delayMs > HELD_UP_MS) onHeldUp(delayMs);
    dueMs = nowMs + LOOK_MS;
    timer = setTimeout(look, LOOK_MS);
  }

  return { delays, stop: () => clearTimeout(timer) };
}
