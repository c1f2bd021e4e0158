import type { Order, TimeRange } from "../../model/time/range.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { Device } from "../devices/device.ts";
import { timestampAt } from "../records/chunk.ts";
import { type Cut, type DeviceRange, type LateSource, rangeBefore } from "./late-source.ts";

/** One device's rows of sealed days: its track tells where they lie. */
export class LateOfDevice implements LateSource {
  readonly #device: Device;

  constructor(device: Device) {
    this.#device = device;
  }

  async know(): Promise<void> {}

  async cut(range: TimeRange, order: Order, rowsMax: number): Promise<Cut> {
    const { from, to } = this.#rows(range);
    if (from === to) return { range, isEmpty: true };
    const gap = rangeBefore(range, order, this.#borderMs(order, order === "asc" ? from : to - 1));
    if (gap.endMs - gap.startMs >= MS_PER_MINUTE) return { range: gap, isEmpty: true };
    if (to - from <= rowsMax) return { range, isEmpty: false };
    const next = order === "asc" ? from + rowsMax : to - 1 - rowsMax;
    return { range: rangeBefore(range, order, this.#borderMs(order, next)), isEmpty: false };
  }

  days(range: TimeRange): UtcDay[] {
    const { from, to } = this.#rows(range);
    const days: UtcDay[] = [];
    for (let row = from; row < to; ) {
      const day = utcDayOf(this.#timeAt(row));
      days.push(day);
      row = this.#device.track.countBefore(utcDayStartMs(nextUtcDay(day)));
    }
    return days;
  }

  deviceRanges(range: TimeRange): Iterable<DeviceRange> {
    return [{ ...range, device: this.#device }];
  }

  /** The instant between the row of an index and those before it, in order. */
  #borderMs(order: Order, index: number): number {
    return order === "asc" ? this.#timeAt(index) : this.#timeAt(index) + 1;
  }

  #rows({ startMs, endMs }: TimeRange) {
    const { track } = this.#device;
    return { from: track.countBefore(startMs), to: track.countBefore(endMs) };
  }

  #timeAt(index: number): number {
    const { chunk, row } = this.#device.track.at(index);
    return timestampAt(chunk, row);
  }
}
