import { DELAY_BOUNDS_SECONDS, Durations } from "./durations.ts";

/** How late timers fire: what every request waits before anything is done for it. */
export interface EventLoopMeter {
  readonly delays: Durations;
  stop(): void;
}

/** A look each so often sees every wait that is longer, and costs a thousandth of a percent. */
const LOOK_MS = 50;

export function watchEventLoop(): EventLoopMeter {
  const delays = new Durations(DELAY_BOUNDS_SECONDS);
  let timer = setTimeout(look, LOOK_MS);
  let dueMs = performance.now() + LOOK_MS;

  function look(): void {
    const nowMs = performance.now();
    delays.add(Math.max(0, nowMs - dueMs));
    dueMs = nowMs + LOOK_MS;
    timer = setTimeout(look, LOOK_MS);
  }

  return { delays, stop: () => clearTimeout(timer) };
}
