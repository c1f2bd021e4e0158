import type { TimeRange } from "../../model/time/range.ts";
import { type UtcDay, utcDayOf } from "../../model/time/utc-day.ts";
import type { DeviceList } from "../devices/device-list.ts";
import { type DayLedger, isSealed } from "../late/day-ledger.ts";
import type { Dictionary } from "../records/dictionary.ts";
import { DayIndex } from "./day-index.ts";

/**
 * An app's records by time: a day index for each UTC day that a query needed. An index costs 8 bytes per record, beside
 * some 75 of the record itself.
 */
export class TimeIndex {
  readonly #devices: DeviceList;
  readonly #ledger: DayLedger;
  readonly #dictionary: Dictionary;
  readonly #days = new Map<UtcDay, DayIndex>();

  constructor(devices: DeviceList, ledger: DayLedger, dictionary: Dictionary) {
    this.#devices = devices;
    this.#ledger = ledger;
    this.#dictionary = dictionary;
  }

  /** Adds a record that came in to the index of its day, if there is one. */
  note(day: UtcDay, timestampMs: number, device: number): void {
    if (this.#days.size === 0) return;
    const index = this.#days.get(day);
    if (index === undefined) return;
    index.note(timestampMs, device);
    if (index.isLeft) this.#days.delete(day); // The next query starts over.
  }

  /** Drops the index of a day whose records have left memory. No query uses it once the day is sealed. */
  forget(day: UtcDay): void {
    this.#days.delete(day);
  }

  /** Drops the indexes that no query used since this instant of the process's own clock. */
  forgetIdle(beforeMs: number): void {
    for (const [day, { askedMs }] of this.#days) if (askedMs < beforeMs) this.#days.delete(day);
  }

  /**
   * The indexes of a range's days, in order, whole or not, valid during this step; null if one of the days is sealed,
   * since its records may be about to leave.
   */
  days({ startMs, endMs }: TimeRange): DayIndex[] | null {
    const [first, last] = [utcDayOf(startMs), utcDayOf(endMs - 1)];
    const days = this.#ledger.withRecords().filter(({ day }) => day >= first && day <= last);
    return days.some(isSealed) ? null : days.map(({ day }) => this.#dayOf(day));
  }

  #dayOf(day: UtcDay): DayIndex {
    let index = this.#days.get(day);
    if (index === undefined) {
      index = new DayIndex(day, this.#devices, this.#dictionary);
      this.#days.set(day, index);
    }
    index.askedMs = performance.now();
    return index;
  }
}
