import { describe, expect, test } from "bun:test";
import { timestampFault } from "../../../../src/model/report.ts";
import { DEFAULT_RETENTION, FixedRetention, startOfUtcDayMs } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import * as fc from "../../../support/fast-check.ts";

describe("startOfUtcDayMs()", () => {
  test("keeps midnight and goes back to it from every other instant, before 1970 too", () => {
    const midnightMs = Date.UTC(2026, 6, 1);
    expect(startOfUtcDayMs(midnightMs)).toBe(midnightMs);
    expect(startOfUtcDayMs(midnightMs + 86_399_999)).toBe(midnightMs);
    expect(startOfUtcDayMs(midnightMs - 1)).toBe(Date.UTC(2026, 5, 30));
    expect(startOfUtcDayMs(-1)).toBe(-86_400_000);
  });
});

const startOf = (text: string, nowMs: number) => {
  const retention = FixedRetention.parse(text);
  return retention.ok ? new Date(retention.value.startMs(nowMs)).toISOString() : retention.error;
};

describe("DEFAULT_RETENTION", () => {
  test("begins with the UTC day 365 days ago, through leap years", () => {
    const startMs = (nowMs: number) => DEFAULT_RETENTION.startMs(nowMs);
    expect(DEFAULT_RETENTION.text).toBe("365d");
    expect(startMs(Date.UTC(2026, 6, 1, 23, 59))).toBe(Date.UTC(2025, 6, 1));
    expect(startMs(Date.UTC(2026, 6, 1))).toBe(Date.UTC(2025, 6, 1));
    expect(startMs(Date.UTC(2024, 11, 31, 5))).toBe(Date.UTC(2024, 0, 1));
  });
});

describe("FixedRetention.parse()", () => {
  const nowMs = Date.UTC(2026, 10, 22, 13);

  test.each([
    ["7d", "2026-11-15T00:00:00.000Z"],
    ["365d", "2025-11-22T00:00:00.000Z"],
    ["1y", "2025-11-21T00:00:00.000Z"], // 366 days.
    ["10y", "2016-11-21T00:00:00.000Z"], // 3,653 days.
    ["50y", "1976-11-21T00:00:00.000Z"],
    ["100y", "1973-03-04T00:00:00.000Z"],
    ["36525d", "1973-03-04T00:00:00.000Z"],
    ["forever", "1973-03-04T00:00:00.000Z"],
  ])("%s begins with %s", (text, start) => {
    expect(startOf(text, nowMs)).toBe(start);
  });

  test("refuses any other text", () => {
    const others = [
      "",
      "365",
      "d",
      "1.5y",
      "-1d",
      "0d",
      "01y",
      "10 y",
      "10Y",
      "3w",
      "ever",
      "1e3d",
      "99999999d",
    ];
    for (const text of others) {
      expect(startOf(text, nowMs)).toBe("must be days, years or forever, such as 365d, 10y, forever");
    }
  });

  test("has bounds", () => {
    expect(startOf("6d", nowMs)).toBe("must be at least 7d: a week is always in memory");
    for (const text of ["36526d", "101y", "9999999y"]) {
      expect(startOf(text, nowMs)).toBe("must be at most 100y, or forever");
    }
  });

  test("keeps the text, as which it is set and shown", () => {
    for (const text of ["365d", "10y", "forever"]) {
      expect(FixedRetention.parse(text)).toMatchObject({ ok: true, value: { text } });
    }
  });

  test("so many years are never less than that on the calendar, nor two days more", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 45 }),
        fc.date({ min: new Date("2020-01-01"), max: new Date("2099-12-31"), noInvalidDate: true }),
        (years, now) => {
          const calendar = new Date(startOfUtcDayMs(now.getTime()));
          calendar.setUTCFullYear(calendar.getUTCFullYear() - years);
          const start = Date.parse(startOf(`${years}y`, now.getTime()));
          expect(start).toBeLessThanOrEqual(calendar.getTime());
          expect(start).toBeGreaterThanOrEqual(calendar.getTime() - 2 * MS_PER_DAY);
        },
      ),
    );
  });

  test("forever still refuses what looks like seconds, and times before there was anything to tell them", () => {
    const forever = FixedRetention.parse("forever");
    const times = { oldestMs: forever.ok ? forever.value.startMs(nowMs) : Number.NaN, newestMs: nowMs };
    const faultOf = (timestamp: number) => timestampFault(timestamp, times);
    expect(faultOf(Date.UTC(1995, 5, 1))).toBeNull();
    expect(faultOf(Date.UTC(1973, 2, 4))).toBeNull();
    expect(faultOf(99_999_999_999)).toContain("looks like seconds");
    for (const timestamp of [0, -1, Date.UTC(1960, 0, 1), 100_000_000_000]) {
      expect(faultOf(timestamp)).toContain("must not be before 1973-03-04T00:00:00.000Z");
    }
  });
});
