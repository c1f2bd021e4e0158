import { LastNumbers, NumberColumn, quantile } from "./columns.ts";

const GAPS = 15;
/** With fewer gaps there is no habit. */
const GAPS_MIN = 8;
/** Messages in faster succession are one backlog. */
const GAP_SECONDS_MIN = 1;

/** A device is silent if it exceeds all three limits: a multiple of its usual gap, */
const USUAL_GAPS = 10;
/** a multiple of the longest gap after which it came back, for example each morning, */
const OF_LONGEST = 1.5;
/** and this time. */
const SILENT_SECONDS_MIN = 15 * 60;

/** The longest gap is halved after this time. */
const HALF_LIFE_SECONDS = 7 * 86_400;

/** How long a device is usually silent. */
export interface Habit {
  readonly medianSeconds: number;
  /** When its silence is no longer usual, Unix ms. */
  readonly overdueMs: number;
}

/** The gaps between a device's messages, and when the last one came. */
export class ReportGaps {
  readonly #seconds = new LastNumbers(GAPS);
  readonly #longestSeconds = new NumberColumn();
  readonly #lastMs = new NumberColumn();

  note(slot: number, arrivedMs: number): void {
    const seconds = (arrivedMs - this.#lastMs.get(slot)) / 1000;
    if (seconds <= 0) return; // Another report of the same message, or the server's clock was set back.
    this.#lastMs.set(slot, arrivedMs);
    if (seconds < GAP_SECONDS_MIN || seconds === Number.POSITIVE_INFINITY) return;
    this.#seconds.push(slot, seconds);
    const remembered = this.#longestSeconds.get(slot) * 0.5 ** (seconds / HALF_LIFE_SECONDS);
    this.#longestSeconds.set(slot, Math.max(seconds, remembered));
  }

  lastMs(slot: number): number {
    return this.#lastMs.get(slot);
  }

  /** Null if there is none yet. `lastMs` is when the device was last heard of, perhaps by another node. */
  habit(slot: number, lastMs: number): Habit | null {
    if (this.#seconds.count(slot) < GAPS_MIN) return null;
    const medianSeconds = quantile(this.#seconds.sorted(slot), 0.5);
    const silentSeconds = Math.max(
      USUAL_GAPS * medianSeconds,
      OF_LONGEST * this.#longestSeconds.get(slot),
      SILENT_SECONDS_MIN,
    );
    return { medianSeconds, overdueMs: lastMs + silentSeconds * 1000 };
  }

  clear(slot: number): void {
    this.#seconds.clear(slot);
    this.#longestSeconds.set(slot, 0);
    this.#lastMs.set(slot, Number.NEGATIVE_INFINITY);
  }
}
