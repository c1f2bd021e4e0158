import { MS_PER_MINUTE } from "../../model/time/units.ts";
import { LastNumbers, NumberColumn, quantile } from "./columns.ts";

const MINUTES = 15;
/** With fewer fresh points there is no verdict. */
const FRESH_MIN = 5;
/** Fresh points of a device lag alike; a longer lag means that a point was delayed. */
const FRESH_SECONDS = 30;

/**
 * The lag of arrivals behind the fixes by the device's clock: the error of that clock plus the time of delivery.
 * Delivery only adds to it, and a backlog adds much and unevenly. So the shortest lag of each minute is stored, and
 * those that lie close together below all others are of fresh points.
 */
export class ClockLags {
  readonly #lagSeconds = new LastNumbers(MINUTES);
  readonly #minute = new NumberColumn();

  /** Adds a point that is newer than all before. */
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

  /** The median lag of fresh points in seconds; null if there are too few. */
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
