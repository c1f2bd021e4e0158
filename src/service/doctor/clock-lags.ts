import { MS_PER_MINUTE } from "../../model/time/units.ts";
import { LastNumbers, NumberColumn, quantile } from "./columns.ts";

const MINUTES = 15;
/** Fewer fresh points say nothing. */
const FRESH_MIN = 5;
/** Fresh points of a device lag alike: what takes longer than this was held up on its way. */
const FRESH_SECONDS = 30;

/**
 * How far arrivals are behind the fixes, as the device's clock has them: the error of that clock, and what the way
 * took. The way only ever adds, and a backlog much and unevenly. So of each minute the shortest lag is kept, and those
 * are of fresh points that lie close together below all others.
 */
export class ClockLags {
  readonly #lagSeconds = new LastNumbers(MINUTES);
  readonly #minute = new NumberColumn();

  /** Of a point that is newer than all before. */
  note(slot: number, arrivedMs: number, fixMs: number): void {
    const lagSeconds = (arrivedMs - fixMs) / 1000;
    const minute = Math.floor(arrivedMs / MS_PER_MINUTE);
    if (this.#minute.get(slot) !== minute || this.#lagSeconds.count(slot) === 0) {
      this.#minute.set(slot, minute);
      this.#lagSeconds.push(slot, lagSeconds);
    } else if (lagSeconds < this.#lagSeconds.newest(slot)) {
      this.#lagSeconds.replaceNewest(slot, lagSeconds);
    }
  }

  /** The median lag of fresh points in seconds; null where there are too few. */
  medianSeconds(slot: number): number | null {
    const lags = this.#lagSeconds.sorted(slot);
    for (let first = 0; first + FRESH_MIN <= lags.length; first++) {
      const end = countUpTo(lags, lags[first]! + FRESH_SECONDS);
      if (end - first >= FRESH_MIN) return quantile(lags.subarray(first, end), 0.5);
    }
    return null;
  }

  clear(slot: number): void {
    this.#lagSeconds.clear(slot);
  }
}

function countUpTo(sorted: Float32Array, max: number): number {
  let count = 0;
  while (count < sorted.length && sorted[count]! <= max) count++;
  return count;
}
