import { type Holder, SharedPool } from "../../lib/schedule/shared-pool.ts";

/** Units of attention in a window; one is a report, some tenths of a microsecond. */
const WINDOW_UNITS = 500;
/** What a message takes before its first report is looked at. */
export const MESSAGE_UNITS = 4;
/** Of a longer message a stretch of so many reports is looked at. */
export const STRETCH_REPORTS_MAX = 256;

const WINDOW_MS_MIN = 50;
const WINDOW_MS_MAX = 150;
/** Messages are noted in the order in which they are taken, not in which they came. A clock may also be set back. */
const BEHIND_MS_MAX = 60_000;

/**
 * How much is looked at: everything where little is sent, and of a flood as much as costs next to nothing. Keys and
 * apps share what there is, so that nobody's flood hides another's device. Windows differ in length, so that senders
 * who keep time with each other are all seen in turn.
 */
export class Attention {
  #pool = new SharedPool(0);
  #startMs = Number.NEGATIVE_INFINITY;
  #lengthMs = 0;

  /** Whether there is enough left in the window for so much. */
  take(holder: Holder, units: number, nowMs: number): boolean {
    const elapsedMs = nowMs - this.#startMs;
    if (!(elapsedMs >= -BEHIND_MS_MAX && elapsedMs < this.#lengthMs)) {
      this.#startMs = nowMs;
      this.#lengthMs = WINDOW_MS_MIN + Math.random() * (WINDOW_MS_MAX - WINDOW_MS_MIN);
      this.#pool = new SharedPool(WINDOW_UNITS);
    }
    return this.#pool.take(holder, units);
  }
}
