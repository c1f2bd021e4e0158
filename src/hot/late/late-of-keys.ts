import type { Order, TimeRange } from "../../time/range.ts";
import { type UtcDay, utcDayOf } from "../../time/utc-day.ts";
import type { RecordKey } from "../scan/first-records.ts";
import { type Cut, type LatePlace, type LateSource, partBefore } from "./late-source.ts";
import { MS_PER_MINUTE } from "./minute-index.ts";

/** Some rows of sealed days, by their keys: in order of time, each once. */
export class LateOfKeys implements LateSource {
  readonly #keys: readonly RecordKey[];

  constructor(keys: readonly RecordKey[]) {
    this.#keys = keys;
  }

  async know(): Promise<void> {}

  async cut(range: TimeRange, order: Order, rowsMax: number): Promise<Cut> {
    const { from, to } = this.#within(range);
    if (from === to) return { part: range, isEmpty: true };
    const gap = partBefore(range, order, this.#borderMs(order, order === "asc" ? from : to - 1));
    if (gap.endMs - gap.startMs >= MS_PER_MINUTE) return { part: gap, isEmpty: true };
    if (to - from <= rowsMax) return { part: range, isEmpty: false };
    // Keys of one millisecond stay together: before the first that is too many, or behind it where nothing comes before.
    const next = this.#keys[order === "asc" ? from + rowsMax : to - 1 - rowsMax]!.timestampMs;
    const first = this.#keys[order === "asc" ? from : to - 1]!.timestampMs;
    const isBehind = next === first;
    const border = (order === "asc") === isBehind ? next + 1 : next;
    return { part: partBefore(range, order, border), isEmpty: false };
  }

  days(range: TimeRange): UtcDay[] {
    const { from, to } = this.#within(range);
    const days = new Set<UtcDay>();
    for (let row = from; row < to; row++) days.add(utcDayOf(this.#keys[row]!.timestampMs));
    return [...days];
  }

  *places(range: TimeRange): Iterable<LatePlace> {
    const { from, to } = this.#within(range);
    for (let row = from; row < to; row++) {
      const { device, timestampMs } = this.#keys[row]!;
      yield { device, startMs: timestampMs, endMs: timestampMs + 1 };
    }
  }

  /** The instant that parts the key at a place from those before it, in order. */
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
