import { assert } from "../../lib/assert.ts";
import { masksDay, type PendingErasure } from "../../model/erasure.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { ChangedRecords } from "./changed-records.ts";

/** One UTC day: how many records memory has of it, and what of it is archived. */
export interface LedgerDay {
  readonly day: UtcDay;
  readonly startMs: number;
  readonly endMs: number;
  /** Records in memory, of all apps. */
  count: number;
  /** How many of them are rows of corrections. The archive gets all others. */
  correctedCount: number;
  /** The size of the late fixes (`LateFixes`) of the day, counted in records. */
  fixCount: number;
  /** For this day, log entries up to this one are archived; `UNSEALED` if the day is not. */
  sealedSequence: number;
  /** Erasures up to this entry of the log are gone from the day's archived records. */
  clearedSequence: number;
  /** The records in memory that changed since the last seal read the day's rows; null while no seal runs. */
  changed: ChangedRecords | null;
  /** Whether all records but the changed ones are archived and only wait to be dropped from memory. */
  isLeaving: boolean;
  /** Whether the seal that it leaves with is its first. */
  isFirstSeal: boolean;
  /** The value of a counter of all days, taken when a record of this day last came or changed. */
  changedAt: number;
}

let changes = 0;

/** Marks that a record of the day came or changed. Records that leave change `count`. */
export function noteChange(day: LedgerDay): void {
  day.changedAt = ++changes;
}

/** Differs whenever the day's late rows may have changed. */
export function lateVersion({ day, count, changedAt, isLeaving, sealedSequence }: LedgerDay): string {
  return `${day}:${changedAt}.${count}.${isLeaving}.${sealedSequence}`;
}

/** Sequences count from 1. A day may be sealed at sequence 0: its archived records then come from files only. */
export const UNSEALED = -1;

/** Contains no instant. */
const NO_DAY: LedgerDay = { ...createDay(0 as UtcDay), startMs: Number.POSITIVE_INFINITY };

export class DayLedger {
  readonly #days = new Map<UtcDay, LedgerDay>();
  /** The day of the last lookup: reports of one batch are mostly of one day. */
  #last = NO_DAY;

  /** The day of an instant. Hot code: one comparison if it is the day of the last lookup. */
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

  /** Days with records in memory, sorted. */
  withRecords(): LedgerDay[] {
    return [...this.#days.values()].filter(({ count }) => count > 0).sort((a, b) => a.day - b.day);
  }

  get recordCount(): number {
    let records = 0;
    for (const { count } of this.#days.values()) records += count;
    return records;
  }

  /**
   * Sets the sealed days, each with the log entry up to which it is archived, and with the one up to which erasures are
   * gone from its files.
   */
  setSealed(sequences: ReadonlyMap<UtcDay, number>, cleared: ReadonlyMap<UtcDay, number> = new Map()): void {
    for (const [day, sequence] of sequences) {
      const known = this.#days.get(day)?.sealedSequence ?? UNSEALED;
      assert(sequence >= known, "what the archive covers of a day only grows");
    }
    for (const [day, sequence] of sequences) this.of(day).sealedSequence = sequence;
    for (const entry of this.#days.values()) {
      entry.sealedSequence = sequences.get(entry.day) ?? UNSEALED;
      entry.clearedSequence = cleared.get(entry.day) ?? UNSEALED;
    }
    this.#forgetEmpty();
  }

  /** Forgets days without records or an archive, or else a log of odd timestamps would fill memory. */
  #forgetEmpty(): void {
    for (const entry of this.#days.values()) {
      if (entry.count === 0 && entry.sealedSequence === UNSEALED && entry.changed === null) {
        this.#days.delete(entry.day);
      }
    }
    this.#last = NO_DAY;
  }
}

/** Whether the archive may have records of the day. */
export function isSealed({ sealedSequence }: LedgerDay): boolean {
  return sealedSequence !== UNSEALED;
}

/**
 * Whether memory has all of the day's records, each as a whole: until its first seal drops them. Only of such days are
 * there copies of what devices reported that show as others, since a read of a sealed day renames its records.
 */
export function isWholeInMemory(day: LedgerDay): boolean {
  return !isSealed(day) || (day.isLeaving && day.isFirstSeal);
}

/** Whether the day's archived files may still have records that one of these erasures destroys. */
export function isMasked(day: LedgerDay, erasures: readonly PendingErasure[]): boolean {
  return isSealed(day) && erasures.some((erasure) => masksDay(erasure, day, day.clearedSequence));
}

function createDay(day: UtcDay): LedgerDay {
  return {
    day,
    startMs: utcDayStartMs(day),
    endMs: utcDayStartMs(nextUtcDay(day)),
    count: 0,
    correctedCount: 0,
    fixCount: 0,
    sealedSequence: UNSEALED,
    clearedSequence: UNSEALED,
    changed: null,
    isLeaving: false,
    isFirstSeal: false,
    changedAt: 0,
  };
}
