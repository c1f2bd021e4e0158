import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { createReportBatchBuilder, NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../model/time/utc-day.ts";
import type { LogEntry } from "./entry/entry.ts";

/* The parts of a batch: how many of its reports each UTC day has, and batches of some of its reports. */

/** How many reports there are of each UTC day. */
export type ReportsByDay = ReadonlyMap<UtcDay, number>;

/** Counts a batch's reports by UTC day. */
export function addBatchDays({ count, timestampMs }: ReportBatch, days: Map<UtcDay, number>): void {
  // Neighbours mostly share their day: two comparisons each, and the map is asked once a run of them.
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

/** Adds other counts to counts. */
export function addDays(more: ReportsByDay, days: Map<UtcDay, number>): void {
  for (const [day, reports] of more) days.set(day, (days.get(day) ?? 0) + reports);
}

/** Some reports of a batch, by row and in this order, without every text that only others name. */
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

/** The reports of a batch of two or more, in two batches. */
export function halvesOf(batch: ReportBatch): readonly [ReportBatch, ReportBatch] {
  const rows = Array.from({ length: batch.count }, (_, row) => row);
  const half = Math.ceil(batch.count / 2);
  return [pickReports(batch, rows.slice(0, half)), pickReports(batch, rows.slice(half))];
}

/** The batch without the reports of some days. */
export function withoutDays(batch: ReportBatch, days: ReadonlySet<UtcDay>): ReportBatch {
  const rows = Array.from({ length: batch.count }, (_, row) => row);
  const kept = rows.filter((row) => !days.has(utcDayOf(batch.timestampMs[row]!)));
  return kept.length === batch.count ? batch : pickReports(batch, kept);
}

/** The batch of an entry without what is kept elsewhere: reports of days that are covered up to its sequence. */
export function withoutCovered(
  { batch, sequence }: LogEntry,
  covered: ReadonlyMap<UtcDay, number>,
): ReportBatch {
  const days = new Map<UtcDay, number>();
  addBatchDays(batch, days);
  const left = [...days.keys()].filter((day) => sequence <= (covered.get(day) ?? 0));
  return left.length === 0 ? batch : withoutDays(batch, new Set(left));
}
