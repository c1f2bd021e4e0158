import type { Order, TimeRange } from "../../model/time/range.ts";

/** A histogram of instants, to find the one at an offset. */

/** A day in spans of 21 s, and those in milliseconds in a second round. */
const BINS_MAX = 4096;

/** Where the instant at an offset lies. */
export interface BinFound {
  readonly span: TimeRange;
  readonly count: number;
  /** How many come before it, in order. */
  readonly before: number;
  /** What comes behind it, in order. */
  readonly rest: TimeRange;
}

/** Counts instants by spans of equal length. */
export class TimeBins {
  readonly #range: TimeRange;
  readonly #spanMs: number;
  readonly #counts: Uint32Array;

  constructor(range: TimeRange) {
    this.#range = range;
    this.#spanMs = Math.ceil((range.endMs - range.startMs) / BINS_MAX);
    this.#counts = new Uint32Array(Math.ceil((range.endMs - range.startMs) / this.#spanMs));
  }

  add(timestampMs: number): void {
    this.#counts[Math.floor((timestampMs - this.#range.startMs) / this.#spanMs)]!++;
  }

  /** The span that holds the instant at an offset; null where there are fewer. */
  find(order: Order, offset: number): BinFound | null {
    const { startMs, endMs } = this.#range;
    let before = 0;
    for (let step = 0; step < this.#counts.length; step++) {
      const bin = order === "asc" ? step : this.#counts.length - 1 - step;
      const count = this.#counts[bin]!;
      if (before + count > offset) {
        const fromMs = startMs + bin * this.#spanMs;
        const span = { startMs: fromMs, endMs: Math.min(endMs, fromMs + this.#spanMs) };
        const rest = order === "asc" ? { startMs: span.endMs, endMs } : { startMs, endMs: span.startMs };
        return { span, count, before, rest };
      }
      before += count;
    }
    return null;
  }
}
