import type { TimeRange } from "../../model/time/range.ts";
import { type UtcDay, utcDayOf } from "../../model/time/utc-day.ts";
import type { DeviceList } from "../devices/device-list.ts";
import { type DayLedger, isSealed } from "../late/day-ledger.ts";
import type { Dictionary } from "../records/dictionary.ts";
import { DayIndex } from "./day-index.ts";

/**
 * An app's records by time, a day index for each UTC day that somebody asks about. Costs 8 bytes a record of those
 * days, against some 75 of the record itself.
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

  /** A record has come in. */
  note(day: UtcDay, timestampMs: number, device: number): void {
    if (this.#days.size === 0) return;
    const index = this.#days.get(day);
    if (index === undefined) return;
    index.note(timestampMs, device);
    if (index.isLeft) this.#days.delete(day); // The next query begins anew.
  }

  /** Records of the day have left memory. Nobody has asked since it was sealed. */
  forget(day: UtcDay): void {
    this.#days.delete(day);
  }

  /** Gives up the days that nobody has asked for since this instant of the process's own clock. */
  forgetIdle(beforeMs: number): void {
    for (const [day, { askedMs }] of this.#days) if (askedMs < beforeMs) this.#days.delete(day);
  }

  /**
   * The days of a range, in order; null where one of them is sealed, since its records may be about to leave. As of
   * now, and whole or not.
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
