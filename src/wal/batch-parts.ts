import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { createReportBatchBuilder, NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../model/time/utc-day.ts";
import type { LogEntry, ReportsEntry, Sequenced } from "./entry/entry.ts";

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
}

/** Tallies entries in the order of the log. */
export class EntryCounter implements EntryTally {
  readonly reports = new Map<UtcDay, number>();
  standingSequence = 0;

  add(entry: LogEntry): void {
    if (entry.kind === "reports") addBatchDays(entry.batch, this.reports);
    else this.standingSequence = entry.sequence;
  }

  /** Adds the tally of entries after all these. */
  addAll({ reports, standingSequence }: EntryTally): void {
    addDays(reports, this.reports);
    this.standingSequence = Math.max(this.standingSequence, standingSequence);
  }
}

/** A batch of the reports in `rows`, in that order, with only the texts that these use. */
export function pickReports(batch: ReportBatch, rows: readonly number[]): ReportBatch {
  const { texts, device, timestampMs, numbers, profiles, profile, states, state } = batch;
  const builder = createReportBatchBuilder(rows.length);
  const moved = (text: number) => (text === NOT_CARRIED ? NOT_CARRIED : builder.text(texts[text]!));
  for (const row of rows) {
    builder.begin();
    for (let c = 0; c < NUMBER_FIELDS.length; c++) builder.numbers[c] = numbers[c]![row]!;
    const profileAt = profile[row]! * PROFILE_FIELDS.length;
    for (let m = 0; m < PROFILE_FIELDS.length; m++) builder.profile[m] = moved(profiles[profileAt + m]!);
    const stateAt = state[row]! * STATE_FIELDS.length;
    for (let m = 0; m < STATE_FIELDS.length; m++) builder.state[m] = moved(states[stateAt + m]!);
    builder.add(builder.text(texts[device[row]!]!), timestampMs[row]!);
  }
  return builder.build();
}

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
