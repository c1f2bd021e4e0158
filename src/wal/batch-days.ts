import type { ReportBatch } from "../model/report-batch.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../time/utc-day.ts";

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
