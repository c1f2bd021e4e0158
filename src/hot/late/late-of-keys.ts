import type { Order, TimeRange } from "../../model/time/range.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";
import { type UtcDay, utcDayOf } from "../../model/time/utc-day.ts";
import type { RecordKey } from "../scan/first-records.ts";
import { type Cut, type DeviceRange, type LateSource, rangeBefore } from "./late-source.ts";

/** Some rows of sealed days, by their keys: in order of time, each once. */
export class LateOfKeys implements LateSource {
  readonly #keys: readonly RecordKey[];

  constructor(keys: readonly RecordKey[]) {
    this.#keys = keys;
  }

  async know(): Promise<void> {}

  async cut(range: TimeRange, order: Order, rowsMax: number): Promise<Cut> {
    const { from, to } = this.#within(range);
    if (from === to) return { range, isEmpty: true };
    const gap = rangeBefore(range, order, this.#borderMs(order, order === "asc" ? from : to - 1));
    if (gap.endMs - gap.startMs >= MS_PER_MINUTE) return { range: gap, isEmpty: true };
    if (to - from <= rowsMax) return { range, isEmpty: false };
    // Keys of a millisecond stay together: before the first that is too many, or behind it where nothing comes before.
    const next = this.#keys[order === "asc" ? from + rowsMax : to - 1 - rowsMax]!.timestampMs;
    const first = this.#keys[order === "asc" ? from : to - 1]!.timestampMs;
    const isBehind = next === first;
    const border = (order === "asc") === isBehind ? next + 1 : next;
    return { range: rangeBefore(range, order, border), isEmpty: false };
  }

  days(range: TimeRange): UtcDay[] {
    const { from, to } = this.#within(range);
    const days = new Set<UtcDay>();
    for (let row = from; row < to; row++) days.add(utcDayOf(this.#keys[row]!.timestampMs));
    return [...days];
  }

  *deviceRanges(range: TimeRange): Iterable<DeviceRange> {
    const { from, to } = this.#within(range);
    for (let row = from; row < to; row++) {
      const { device, timestampMs } = this.#keys[row]!;
      yield { device, startMs: timestampMs, endMs: timestampMs + 1 };
    }
  }

  /** The instant between a key and those before it, in order. */
  #borderMs(order: Order, row: number): number {
    const { timestampMs } = this.#keys[row]!;
    return order === "asc" ? timestampMs : timestampMs + 1;
  }

  #within({ startMs, endMs }: TimeRange) {
    return { from: this.#countBefore(startMs), to: this.#countBefore(endMs) };
  }

  #countBefore(timestampMs: number): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle]!.timestampMs < timestampMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
