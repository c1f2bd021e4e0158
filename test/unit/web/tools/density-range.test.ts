import { expect, test } from "bun:test";
import {
  DENSITY_PRESETS,
  ownRange,
  presetRange,
  rangeText,
} from "../../../../src/web/tools/density-range.ts";

const HOUR_MS = 3_600_000;

test("days are those of the zone, also if clocks go back; the last hour is always one", () => {
  const now = Date.parse("2026-10-25T12:00:00Z");
  const hours = DENSITY_PRESETS.map((preset) => {
    const { startMs, endMs } = presetRange(preset, "Europe/Berlin", now);
    return (endMs - startMs) / HOUR_MS;
  });
  expect(hours).toEqual([1, 25, 24, 7 * 24 + 1, 30 * 24 + 1, 365 * 24 + 1]);
  const yesterday = presetRange(DENSITY_PRESETS[2]!, "Europe/Berlin", now);
  expect(yesterday.startMs).toBe(Date.parse("2026-10-23T22:00:00Z"));
  expect(presetRange(DENSITY_PRESETS[0]!, "Europe/Berlin", now).endMs).toBe(now);
});

test("no range is longer than the endpoint allows", () => {
  for (let month = 0; month < 12; month++)
    for (const preset of DENSITY_PRESETS) {
      const { startMs, endMs } = presetRange(preset, "America/New_York", Date.UTC(2028, month, 29));
      expect(endMs - startMs).toBeLessThanOrEqual(366 * 24 * HOUR_MS);
    }
});

test("a typed range is read by the clocks of the zone", () => {
  expect(ownRange({ start: "2026-03-29T00:00", end: "2026-03-30T00:00" }, "Europe/Berlin")).toEqual({
    startMs: Date.parse("2026-03-28T23:00:00Z"),
    endMs: Date.parse("2026-03-29T22:00:00Z"),
  });
});

test("a typed range that is none says why", () => {
  const faultOf = (start: string, end: string) => ownRange({ start, end }, "UTC");
  expect(faultOf("", "2026-03-30T00:00")).toEqual({ fault: "Choose the first and the last minute." });
  expect(faultOf("2026-03-30T00:00", "2026-03-30T00:00")).toEqual({
    fault: "The first minute must be before the last.",
  });
  expect(faultOf("2025-03-30T00:00", "2026-03-31T00:01")).toEqual({
    fault: "A range is at most 366 days long.",
  });
  expect(faultOf("2025-03-30T00:00", "2026-03-31T00:00")).not.toHaveProperty("fault");
});

test("whole days are named as days, other ranges with their minutes", () => {
  const at = (from: string, to: string) =>
    rangeText({ startMs: Date.parse(from), endMs: Date.parse(to) }, "Europe/Berlin");
  expect(at("2026-11-15T23:00Z", "2026-11-16T23:00Z")).toMatch(
    /^Mon\W+(Nov 16|16 Nov)\W+2026, days of Europe\/Berlin$/,
  );
  expect(at("2026-11-15T23:00Z", "2026-11-22T23:00Z")).toMatch(/^Mon.* to Sun.*, days of Europe\/Berlin$/);
  expect(at("2026-11-15T23:00Z", "2026-11-16T22:00Z")).toMatch(/12:00.* to .*11:00|00:00.* to .*23:00/);
});
