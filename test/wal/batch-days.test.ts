import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ReportBatch } from "../../src/model/report-batch.ts";
import { type UtcDay, utcDayOf, utcDayStartMs } from "../../src/time/utc-day.ts";
import { addBatchDays } from "../../src/wal/batch-days.ts";
import { dayBatch } from "./fixture.ts";

function daysOf(timestampsMs: readonly number[], count = timestampsMs.length): Set<UtcDay> {
  const batch: ReportBatch = { ...dayBatch("any", []), count, timestampMs: Float64Array.from(timestampsMs) };
  const days = new Set<UtcDay>();
  addBatchDays(batch, days);
  return days;
}

test("addBatchDays() finds the day of every report, also before 1970 and around midnights", () => {
  const instants = fc.tuple(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-1, 0, 1, 43_200_000));
  fc.assert(
    fc.property(fc.array(instants.map(([day, ms]) => utcDayStartMs(day as UtcDay) + ms)), (timestampsMs) => {
      expect(daysOf(timestampsMs)).toEqual(new Set(timestampsMs.map(utcDayOf)));
    }),
  );
});

test("addBatchDays() adds to what it is given, and looks no further than the count", () => {
  expect(daysOf([0, 86_400_000], 1)).toEqual(new Set([0 as UtcDay]));
  const days = new Set([7 as UtcDay]);
  addBatchDays(dayBatch("any", [2, 1]), days);
  expect([...days]).toEqual([7, 2, 1] as UtcDay[]);
});
