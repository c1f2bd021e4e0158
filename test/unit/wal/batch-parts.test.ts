import { expect, test } from "bun:test";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { type UtcDay, utcDayOf, utcDayStartMs } from "../../../src/model/time/utc-day.ts";
import { addBatchDays } from "../../../src/wal/batch-parts.ts";
import * as fc from "../../support/fast-check.ts";
import { dayBatch } from "./fixture.ts";

function daysOf(timestampsMs: readonly number[], count = timestampsMs.length): Map<UtcDay, number> {
  const batch: ReportBatch = { ...dayBatch("any", []), count, timestampMs: Float64Array.from(timestampsMs) };
  const days = new Map<UtcDay, number>();
  addBatchDays(batch, days);
  return days;
}

test("addBatchDays() counts the reports of every day, also before 1970 and around midnights", () => {
  const instants = fc.tuple(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-1, 0, 1, 43_200_000));
  fc.assert(
    fc.property(fc.array(instants.map(([day, ms]) => utcDayStartMs(day as UtcDay) + ms)), (timestampsMs) => {
      const counts = new Map<UtcDay, number>();
      for (const day of timestampsMs.map(utcDayOf)) counts.set(day, (counts.get(day) ?? 0) + 1);
      expect(daysOf(timestampsMs)).toEqual(counts);
    }),
  );
});

test("addBatchDays() adds to what it is given, and looks no further than the count", () => {
  expect(daysOf([0, 86_400_000], 1)).toEqual(new Map([[0 as UtcDay, 1]]));
  const days = new Map([[7 as UtcDay, 3]]);
  addBatchDays(dayBatch("any", [2, 7, 7, 1]), days);
  expect([...days]).toEqual([
    [7, 5],
    [2, 1],
    [1, 1],
  ] as [UtcDay, number][]);
});
