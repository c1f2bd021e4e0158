import { systemTimers } from "../../lib/schedule/timers.ts";
import { DELAY_BOUNDS_SECONDS, Durations } from "./durations.ts";

/** How late timers fire: what every request waits before anything is done for it. */
export interface EventLoopMeter {
  readonly delays: Durations;
  /** The longest delay since this was last asked, in milliseconds; one that is not over yet counts as far as it got. */
  takeLongestMs(): number;
  stop(): void;
}

/**
 * How often to look: whatever holds the loop for longer is seen, and told up to this much too short, since it may begin
 * right after a look. Each look wakes an idle process, so looking twice as often would cost a percent of a core.
 */
const LOOK_MS = 10;

/** Longer than anything that requests do by themselves: something is wrong with the machine, or with us. */
const HELD_UP_MS = 1000;

/** `onHeldUp` hears of every wait of more than a second, when it is over. */
export function watchEventLoop(onHeldUp: (delayMs: number) => void, timers = systemTimers): EventLoopMeter {
  const delays = new Durations(DELAY_BOUNDS_SECONDS);
  let cancel = timers.after(LOOK_MS, look);
  let dueMs = timers.nowMs() + LOOK_MS;
  let longestMs = 0;

  function look(): void {
    const nowMs = timers.nowMs();
    const delayMs = Math.max(0, nowMs - dueMs);
    delays.add(delayMs);
    longestMs = Math.max(longestMs, delayMs);
    if (delayMs > HELD_UP_MS) onHeldUp(delayMs);
    dueMs = nowMs + LOOK_MS;
    cancel = timers.after(LOOK_MS, look);
  }

  return {
    delays,
    takeLongestMs() {
      const taken = Math.max(longestMs, timers.nowMs() - dueMs);
      longestMs = 0;
      return taken;
    },
    stop: () => cancel(),
  };
}
