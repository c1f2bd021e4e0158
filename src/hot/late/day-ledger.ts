import { assert } from "../../lib/assert.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { ChangedRecords } from "./changed-records.ts";

/** What memory knows of each UTC day: how many records it has of it, and what of it the archive holds. */

/** What memory knows of one UTC day. */
export interface LedgerDay {
  readonly day: UtcDay;
  readonly startMs: number;
  readonly endMs: number;
  /** Records in memory, of all apps. */
  count: number;
  /** What the fixes take that are kept beside records (`LateFixes`), counted in records. */
  fixCount: number;
  /** Entries of the log up to this one are in the archive, for this day; `UNSEALED` where none are. */
  sealedSequence: number;
  /** The records in memory that changed since the archive last took the day's rows; null while nobody asks. */
  changed: ChangedRecords | null;
  /** Whether the archive has all but the changed ones, and the rest only waits to be dropped. */
  isLeaving: boolean;
  /** Counts up, over all days, with each record that comes in or changes; the count of this day's last. */
  changedAt: number;
}

let changes = 0;

/** One of the day's records in memory was not there before, or was another. Those that leave are counted by `count`. */
export function noteChange(day: LedgerDay): void {
  day.changedAt = ++changes;
}

/** Another text whenever the rows of the day that lie over archived records may be others. */
export function lateVersion({ day, count, changedAt, isLeaving, sealedSequence }: LedgerDay): string {
  return `${day}:${changedAt}.${count}.${isLeaving}.${sealedSequence}`;
}

/** Sequences count from 1. A day whose archive covers no entry is sealed all the same: files may have records of it. */
export const UNSEALED = -1;

/** No instant lies in it. */
const NO_DAY: LedgerDay = { ...createDay(0 as UtcDay), startMs: Number.POSITIVE_INFINITY };

/** Counts records by UTC day and knows which days are sealed. */
export class DayLedger {
  readonly #days = new Map<UtcDay, LedgerDay>();
  /** The day asked for last: reports of one batch are mostly of one day. */
  #last = NO_DAY;

  /** The day of an instant. Hot code: one comparison where it is the same day as before. */
  at(timestampMs: number): LedgerDay {
    const last = this.#last;
    if (timestampMs >= last.startMs && timestampMs < last.endMs) return last;
    this.#last = this.of(utcDayOf(timestampMs));
    return this.#last;
  }

  of(day: UtcDay): LedgerDay {
    let entry = this.#days.get(day);
    if (entry === undefined) {
      entry = createDay(day);
      this.#days.set(day, entry);
    }
    return entry;
  }

  /** Days with records in memory, in order. */
  withRecords(): LedgerDay[] {
    return [...this.#days.values()].filter(({ count }) => count > 0).sort((a, b) => a.day - b.day);
  }

  /** Records in memory, of all days. */
  get recordCount(): number {
    let records = 0;
    for (const { count } of this.#days.values()) records += count;
    return records;
  }

  /** From now on exactly these days are sealed, up to these entries of the log. */
  setSealed(sequences: ReadonlyMap<UtcDay, number>): void {
    for (const [day, sequence] of sequences) {
      const known = this.#days.get(day)?.sealedSequence ?? UNSEALED;
      assert(sequence >= known, "what the archive covers of a day only grows");
    }
    for (const entry of this.#days.values()) entry.sealedSequence = sequences.get(entry.day) ?? UNSEALED;
    for (const [day, sequence] of sequences) this.of(day).sealedSequence = sequence;
    this.#forgetEmpty();
  }

  /** Days that hold nothing and mean nothing: without this a log of odd timestamps would fill memory. */
  #forgetEmpty(): void {
    for (const entry of this.#days.values()) {
      if (entry.count === 0 && entry.sealedSequence === UNSEALED && entry.changed === null) {
        this.#days.delete(entry.day);
      }
    }
    this.#last = NO_DAY;
  }
}

/** Whether the archive may hold records of the day. */
export function isSealed({ sealedSequence }: LedgerDay): boolean {
  return sealedSequence !== UNSEALED;
}

function createDay(day: UtcDay): LedgerDay {
  return {
    day,
    startMs: utcDayStartMs(day),
    endMs: utcDayStartMs(nextUtcDay(day)),
    count: 0,
    fixCount: 0,
    sealedSequence: UNSEALED,
    changed: null,
    isLeaving: false,
    changedAt: 0,
  };
}
