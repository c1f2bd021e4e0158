import { nextTurn } from "../../lib/schedule/timers.ts";
import { grown } from "../../lib/tables/columns.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { Device } from "../devices/device.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import { timestampAt } from "../records/chunk.ts";
import type { RecordKey } from "../scan/first-records.ts";
import type { LateMinutes, Minute, MinuteIndex } from "./late-minutes.ts";

/** Locates late rows: of a device, of an app or of some keys. */
export interface LateSource {
  /** Reads what the other methods need of a range. */
  know(range: TimeRange): Promise<void>;
  /**
   * The first part of a range in the given order: a gap without rows if it lasts `gapMs` or more, at least a minute,
   * or else about `rowsMax` rows.
   */
  cut(range: TimeRange, order: Order, rowsMax: number, gapMs: number): Promise<Cut>;
  /** Days of a range that may have rows, sorted. */
  days(range: TimeRange): UtcDay[];
  /** The devices that may have rows in a range, each with the part of the range to read. */
  deviceRanges(range: TimeRange): Iterable<DeviceRange>;
}

export interface DeviceRange extends TimeRange {
  readonly device: Device;
}

export interface Cut {
  readonly range: TimeRange;
  readonly isEmpty: boolean;
}

/** The part of a range before an instant, in the given order. */
function rangeBefore({ startMs, endMs }: TimeRange, order: Order, borderMs: number): TimeRange {
  return order === "asc" ? { startMs, endMs: borderMs } : { startMs: borderMs, endMs };
}

/** The days that a range touches, sorted. */
export function daysOf({ startMs, endMs }: TimeRange): UtcDay[] {
  const [first, last] = [utcDayOf(startMs), utcDayOf(endMs - 1)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) as UtcDay);
}

/** One device's late rows, which its track locates. */
export class LateOfDevice implements LateSource {
  readonly #device: Device;

  constructor(device: Device) {
    this.#device = device;
  }

  async know(): Promise<void> {}

  async cut(range: TimeRange, order: Order, rowsMax: number, gapMs: number): Promise<Cut> {
    const { from, to } = this.#rows(range);
    if (from === to) return { range, isEmpty: true };
    const gap = rangeBefore(range, order, this.#borderMs(order, order === "asc" ? from : to - 1));
    if (gap.endMs - gap.startMs >= gapMs) return { range: gap, isEmpty: true };
    if (to - from <= rowsMax) return { range, isEmpty: false };
    const next = order === "asc" ? from + rowsMax : to - 1 - rowsMax;
    return { range: rangeBefore(range, order, this.#borderMs(order, next)), isEmpty: false };
  }

  days(range: TimeRange): UtcDay[] {
    const { from, to } = this.#rows(range);
    const days: UtcDay[] = [];
    for (let row = from; row < to; ) {
      const day = utcDayOf(this.#device.timeAt(row));
      days.push(day);
      row = this.#device.countBefore(utcDayStartMs(nextUtcDay(day)));
    }
    return days;
  }

  deviceRanges(range: TimeRange): Iterable<DeviceRange> {
    return [{ ...range, device: this.#device }];
  }

  /** The instant that separates the row at an index from those before it, in the given order. */
  #borderMs(order: Order, index: number): number {
    return order === "asc" ? this.#device.timeAt(index) : this.#device.timeAt(index) + 1;
  }

  #rows({ startMs, endMs }: TimeRange) {
    const device = this.#device;
    return { from: device.countBefore(startMs), to: device.countBefore(endMs) };
  }
}

const LOOKS_A_TURN = 4096;

/** An app's late rows, which an index by minute locates. */
export class LateOfApp implements LateSource {
  readonly #table: DeviceTable;
  readonly #minutes: LateMinutes;
  /** The indexes as they were at the first use: a seal that drops rows of a day drops its index too. */
  readonly #days = new Map<UtcDay, MinuteIndex>();
  /** The row count of each millisecond of one crowded minute, the last that was counted. */
  #crowded: { readonly startMs: number; readonly rows: Uint32Array } | null = null;

  constructor(table: DeviceTable, minutes: LateMinutes) {
    this.#table = table;
    this.#minutes = minutes;
  }

  async know(range: TimeRange): Promise<void> {
    for (const day of daysOf(range)) {
      if (!this.#days.has(day)) this.#days.set(day, await this.#minutes.indexOf(day));
    }
  }

  async cut(range: TimeRange, order: Order, rowsMax: number, gapMs: number): Promise<Cut> {
    await this.know(range);
    let rows = 0;
    for (const minute of this.#minutesOf(range, order)) {
      const before = rangeBefore(
        range,
        order,
        clamped(range, order === "asc" ? minute.startMs : minute.endMs),
      );
      if (rows === 0 && before.endMs - before.startMs >= gapMs) return { range: before, isEmpty: true };
      if (rows === 0 && minute.rows > rowsMax) return this.#cutWithin(minute, range, order, rowsMax);
      if (rows + minute.rows > rowsMax) return { range: before, isEmpty: false };
      rows += minute.rows;
    }
    return { range, isEmpty: rows === 0 };
  }

  days(range: TimeRange): UtcDay[] {
    const days = new Set<UtcDay>();
    for (const { startMs } of this.#minutesOf(range, "asc")) days.add(utcDayOf(startMs));
    return [...days];
  }

  *deviceRanges(range: TimeRange): Iterable<DeviceRange> {
    let seen = new Uint8Array(this.#table.numbersEnd);
    for (const day of daysOf(range)) {
      for (const number of this.#days.get(day)?.devices(range) ?? []) {
        if (number >= seen.length) seen = grown(seen, 2 * number + 1);
        if (seen[number] === 1) continue;
        seen[number] = 1;
        const device = this.#table.findByNumber(number);
        if (device !== null) yield { ...range, device };
      }
    }
  }

  /** Minutes that may have rows in a range, whose days must be in `#days`. */
  *#minutesOf(range: TimeRange, order: Order): Iterable<Minute> {
    const days = daysOf(range);
    for (const day of order === "asc" ? days : days.reverse()) {
      const minutes = this.#days.get(day)?.minutes(range) ?? [];
      yield* order === "asc" ? minutes : minutes.reverse();
    }
  }

  /** Cuts within the first minute of the range, in the given order. */
  async #cutWithin(minute: Minute, range: TimeRange, order: Order, rowsMax: number): Promise<Cut> {
    const counts = await this.#countByMs(minute);
    const firstMs = Math.max(range.startMs, minute.startMs);
    const lastMs = Math.min(range.endMs, minute.endMs) - 1;
    let rows = 0;
    for (let step = 0; step <= lastMs - firstMs; step++) {
      const ms = order === "asc" ? firstMs + step : lastMs - step;
      const more = counts[ms - minute.startMs]!;
      if (rows > 0 && rows + more > rowsMax) {
        return { range: rangeBefore(range, order, order === "asc" ? ms : ms + 1), isEmpty: false };
      }
      rows += more;
    }
    const border = clamped(range, order === "asc" ? minute.endMs : minute.startMs);
    return { range: rangeBefore(range, order, border), isEmpty: false };
  }

  async #countByMs({ startMs, endMs }: Minute): Promise<Uint32Array> {
    if (this.#crowded?.startMs === startMs) return this.#crowded.rows;
    const rows = new Uint32Array(MS_PER_MINUTE);
    let looks = 0;
    for (const { device } of this.deviceRanges({ startMs, endMs })) {
      const from = device.countBefore(startMs);
      device.runs(from, device.countBefore(endMs), (chunk, rowFrom, rowTo) => {
        for (let row = rowFrom; row < rowTo; row++) rows[timestampAt(chunk, row) - startMs]!++;
        looks += rowTo - rowFrom;
      });
      if (++looks < LOOKS_A_TURN) continue;
      looks = 0;
      await nextTurn();
    }
    this.#crowded = { startMs, rows };
    return rows;
  }
}

function clamped({ startMs, endMs }: TimeRange, ms: number): number {
  return Math.min(Math.max(ms, startMs), endMs);
}

/** The late rows of some keys, in order of time, each once. */
export class LateOfKeys implements LateSource {
  readonly #keys: readonly RecordKey[];

  constructor(keys: readonly RecordKey[]) {
    this.#keys = keys;
  }

  async know(): Promise<void> {}

  async cut(range: TimeRange, order: Order, rowsMax: number, gapMs: number): Promise<Cut> {
    const { from, to } = this.#within(range);
    if (from === to) return { range, isEmpty: true };
    const gap = rangeBefore(range, order, this.#borderMs(order, order === "asc" ? from : to - 1));
    if (gap.endMs - gap.startMs >= gapMs) return { range: gap, isEmpty: true };
    if (to - from <= rowsMax) return { range, isEmpty: false };
    // Keys of one millisecond stay together: cut before that millisecond, or behind it if it is the first.
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

  /** The instant that separates a key from those before it, in the given order. */
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
