import type { Order, TimeRange } from "../../model/time/range.ts";
import { type UtcDay, utcDayOf } from "../../model/time/utc-day.ts";
import type { Device } from "../devices/device.ts";

/** Whose rows of sealed days, and where they lie. */
export interface LateSource {
  /** Resolves when the others can be asked about a range. */
  know(range: TimeRange): Promise<void>;
  /**
   * How a range begins, in order: as far as there is no row, where that is a minute or
   * more, or as far as there are about `rowsMax`.
   */
  cut(range: TimeRange, order: Order, rowsMax: number): Promise<Cut>;
  /** Days of a range that may have rows, in order. */
  days(range: TimeRange): UtcDay[];
  /** Where rows of a range may be: devices, each with what is looked at of the range. */
  deviceRanges(range: TimeRange): Iterable<DeviceRange>;
}

export interface DeviceRange extends TimeRange {
  readonly device: Device;
}

export interface Cut {
  readonly range: TimeRange;
  readonly isEmpty: boolean;
}

/** What comes before an instant, in order. */
export function rangeBefore({ startMs, endMs }: TimeRange, order: Order, borderMs: number): TimeRange {
  return order === "asc" ? { startMs, endMs: borderMs } : { startMs: borderMs, endMs };
}

/** The days that a range touches, in order. */
export function daysOf({ startMs, endMs }: TimeRange): UtcDay[] {
  const [first, last] = [utcDayOf(startMs), utcDayOf(endMs - 1)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) as UtcDay);
}
