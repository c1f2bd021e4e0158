import type { ReportBatch } from "../model/report-batch.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../time/utc-day.ts";

/** Adds the UTC days of a batch's reports. */
export function addBatchDays({ count, timestampMs }: ReportBatch, days: Set<UtcDay>): void {
  // Neighbours mostly share their day: two comparisons each, and no set is asked.
  let startMs = Number.POSITIVE_INFINITY;
  let endMs = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < count; row++) {
    const atMs = timestampMs[row]!;
    if (atMs >= startMs && atMs < endMs) continue;
    const day = utcDayOf(atMs);
    days.add(day);
    startMs = utcDayStartMs(day);
    endMs = utcDayStartMs(nextUtcDay(day));
  }
}
