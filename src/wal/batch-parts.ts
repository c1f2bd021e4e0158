import { NUMBER_FIELDS, PROFILE_FIELDS, profileIndex, STATE_FIELDS } from "../model/location-fields.ts";
import { createReportBatchBuilder, NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../model/time/utc-day.ts";
import type { LogEntry, NewEntry, ReportsEntry, Sequenced } from "./entry/entry.ts";

// Counts the reports of a batch by UTC day, and makes batches of some of its reports.

/** The number of reports of each UTC day. */
export type ReportsByDay = ReadonlyMap<UtcDay, number>;

/** Adds the number of a batch's reports of each UTC day to `days`. */
export function addBatchDays({ count, timestampMs }: ReportBatch, days: Map<UtcDay, number>): void {
  // Neighbours mostly share their day: two comparisons per report, and one map access per run.
  for (let row = 0; row < count; ) {
    const day = utcDayOf(timestampMs[row]!);
    const startMs = utcDayStartMs(day);
    const endMs = utcDayStartMs(nextUtcDay(day));
    const first = row;
    do row++;
    while (row < count && timestampMs[row]! >= startMs && timestampMs[row]! < endMs);
    days.set(day, (days.get(day) ?? 0) + row - first);
  }
}

/** Adds counts to counts. */
export function addDays(more: ReportsByDay, days: Map<UtcDay, number>): void {
  for (const [day, reports] of more) days.set(day, (days.get(day) ?? 0) + reports);
}

/** What decides when the log may drop entries. */
export interface EntryTally {
  readonly reports: ReportsByDay;
  /** The sequence of the last standing entry; 0 if there is none. */
  readonly standingSequence: number;
  /** The sequence of the last erasure; 0 if there is none. */
  readonly erasureSequence: number;
  /** Bytes of messages of the quarantine. */
  readonly refusedBytes: number;
}

/** Tallies entries in the order of the log. */
export class EntryCounter implements EntryTally {
  readonly reports = new Map<UtcDay, number>();
  standingSequence = 0;
  erasureSequence = 0;
  refusedBytes = 0;

  add(entry: LogEntry): void {
    if (entry.kind === "reports") addBatchDays(entry.batch, this.reports);
    else this.standingSequence = entry.sequence;
    if (isErasureEntry(entry)) this.erasureSequence = entry.sequence;
    this.refusedBytes += refusedBytesOf(entry);
  }

  /** Adds the tally of entries after all these. */
  addAll({ reports, standingSequence, erasureSequence, refusedBytes }: EntryTally): void {
    addDays(reports, this.reports);
    this.refusedBytes += refusedBytes;
    this.standingSequence = Math.max(this.standingSequence, standingSequence);
    this.erasureSequence = Math.max(this.erasureSequence, erasureSequence);
  }
}

/** Bytes of an entry that belong to a message of the quarantine. */
export function refusedBytesOf(entry: NewEntry): number {
  return entry.kind === "refused_piece" ? entry.bytes.length : 0;
}

/** An erasure's entry stays in the log until the erasure is finished. */
export function isErasureEntry(entry: NewEntry): boolean {
  return entry.kind === "erasure";
}

/**
 * A batch of the reports in `rows`, in that order, with only the texts that these use. Those in `anonymous` lose their
 * users.
 */
export function pickReports(
  batch: ReportBatch,
  rows: readonly number[],
  anonymous: ReadonlySet<number> = NO_ROWS,
): ReportBatch {
  const { texts, device, timestampMs, numbers, profiles, profile, states, state } = batch;
  const builder = createReportBatchBuilder(rows.length);
  const moved = (text: number) => (text === NOT_CARRIED ? NOT_CARRIED : builder.text(texts[text]!));
  for (const row of rows) {
    builder.begin();
    for (let c = 0; c < NUMBER_FIELDS.length; c++) builder.numbers[c] = numbers[c]![row]!;
    const profileAt = profile[row]! * PROFILE_FIELDS.length;
    const leftOut = anonymous.has(row) ? USER : -1;
    for (let m = 0; m < PROFILE_FIELDS.length; m++)
      builder.profile[m] = m === leftOut ? NOT_CARRIED : moved(profiles[profileAt + m]!);
    const stateAt = state[row]! * STATE_FIELDS.length;
    for (let m = 0; m < STATE_FIELDS.length; m++) builder.state[m] = moved(states[stateAt + m]!);
    builder.add(builder.text(texts[device[row]!]!), timestampMs[row]!);
  }
  return builder.build();
}

const USER = profileIndex("user_id");
const NO_ROWS: ReadonlySet<number> = new Set();

/** Splits a batch of two or more reports into two batches. */
export function halvesOf(batch: ReportBatch): readonly [ReportBatch, ReportBatch] {
  const rows = Array.from({ length: batch.count }, (_, row) => row);
  const half = Math.ceil(batch.count / 2);
  return [pickReports(batch, rows.slice(0, half)), pickReports(batch, rows.slice(half))];
}

/** The batch without the reports of some days. */
export function withoutDays(batch: ReportBatch, days: ReadonlySet<UtcDay>): ReportBatch {
  const rows = Array.from({ length: batch.count }, (_, row) => row);
  const remaining = rows.filter((row) => !days.has(utcDayOf(batch.timestampMs[row]!)));
  return remaining.length === batch.count ? batch : pickReports(batch, remaining);
}

/** The batch of an entry without reports of days that the archive covers up to its sequence. */
export function withoutCovered(
  { batch, sequence }: Sequenced<ReportsEntry>,
  covered: ReadonlyMap<UtcDay, number>,
): ReportBatch {
  const days = new Map<UtcDay, number>();
  addBatchDays(batch, days);
  const archived = [...days.keys()].filter((day) => sequence <= (covered.get(day) ?? 0));
  return archived.length === 0 ? batch : withoutDays(batch, new Set(archived));
}
