import { expect, test } from "bun:test";
import { LAPSE_SPANS, lapseRange, toleranceFor, trailMsAt } from "../../../../src/web/lapse/lapse-range.ts";
import type { LocalDay } from "../../../../src/web/time/local-day.ts";

const [DAY, WEEK, DATE] = LAPSE_SPANS;
const NOW_MS = Date.UTC(2026, 2, 29, 12);
const TODAY = "2026-03-29" as LocalDay;
const HOUR_MS = 3_600_000;

test("spans end now, and days are those of the zone", () => {
  const range = (span: (typeof LAPSE_SPANS)[number], day: string, zone = "UTC") =>
    lapseRange(span, day as LocalDay, zone, NOW_MS);
  expect(range(DAY, TODAY)).toEqual({ startMs: NOW_MS - 24 * HOUR_MS, endMs: NOW_MS });
  expect(range(WEEK, TODAY)).toEqual({ startMs: NOW_MS - 168 * HOUR_MS, endMs: NOW_MS });
  const midnight = Date.UTC(2026, 2, 29);
  expect(range(DATE, TODAY)).toEqual({ startMs: midnight, endMs: NOW_MS });
  // Clocks in Berlin went forward on this day.
  expect(range(DATE, "2026-03-28", "Europe/Berlin")).toEqual({
    startMs: midnight - 25 * HOUR_MS,
    endMs: midnight - HOUR_MS,
  });
  expect(range(DATE, "2026-03-30")).toBe(null);
});

test("lines are as exact as the map shows them, within bounds", () => {
  expect(toleranceFor({ latitude: 56, zoom: 7 })).toBe(85);
  expect(toleranceFor({ latitude: 0, zoom: 0 })).toBe(1000);
  expect(toleranceFor({ latitude: 0, zoom: 20 })).toBe(5);
});

test("trails are longer at higher speeds", () => {
  expect([10, 300, 3600].map(trailMsAt)).toEqual([600_000, 1_800_000, 4 * HOUR_MS]);
});
