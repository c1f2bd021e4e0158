import { nextTurn } from "../../lib/schedule/timers.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";
import { type UtcDay, utcDayOf } from "../../model/time/utc-day.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import { timestampAt } from "../records/chunk.ts";
import type { LateMinutes } from "./late-minutes.ts";
import { type Cut, type DeviceRange, daysOf, type LateSource, rangeBefore } from "./late-source.ts";
import type { Minute, MinuteIndex } from "./minute-index.ts";

const LOOKS_A_TURN = 4096;

/** An app's rows of sealed days: an index tells where they lie, by minute. */
export class LateOfApp implements LateSource {
  readonly #table: DeviceTable;
  readonly #minutes: LateMinutes;
  /** As they were when they were first asked for: a seal that drops rows of a day takes its index away from others. */
  readonly #days = new Map<UtcDay, MinuteIndex>();
  /** How many rows each millisecond of a crowded minute has, of the minute that was asked for last. */
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

  async cut(range: TimeRange, order: Order, rowsMax: number): Promise<Cut> {
    await this.know(range);
    let rows = 0;
    for (const minute of this.#minutesOf(range, order)) {
      const before = rangeBefore(
        range,
        order,
        clamped(range, order === "asc" ? minute.startMs : minute.endMs),
      );
      if (rows === 0 && before.endMs - before.startMs >= MS_PER_MINUTE)
        return { range: before, isEmpty: true };
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
        if (number >= seen.length) seen = lengthened(seen, 2 * number + 1);
        if (seen[number] === 1) continue;
        seen[number] = 1;
        const device = this.#table.findByNumber(number);
        if (device !== null) yield { ...range, device };
      }
    }
  }

  /** Minutes that may have rows in a range of known days. */
  *#minutesOf(range: TimeRange, order: Order): Iterable<Minute> {
    const days = daysOf(range);
    for (const day of order === "asc" ? days : days.reverse()) {
      const minutes = this.#days.get(day)?.minutes(range) ?? [];
      yield* order === "asc" ? minutes : minutes.reverse();
    }
  }

  /** How the range's first minute begins, in order. */
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
      const { track } = device;
      const from = track.countBefore(startMs);
      track.runs(from, track.countBefore(endMs), (chunk, rowFrom, rowTo) => {
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

function lengthened(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(length);
  longer.set(bytes);
  return longer;
}
