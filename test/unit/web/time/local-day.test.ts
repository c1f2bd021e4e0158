import { describe, expect, test } from "bun:test";
import { DateTime } from "luxon";
import { dayRange, parseDate } from "../../../../src/model/time/range.ts";
import { parseZone } from "../../../../src/model/time/zone.ts";
import {
  addDays,
  Calendar,
  dayAt,
  hoursOf,
  type LocalDay,
  MS_PER_HOUR,
  parseDay,
  rangeOf,
} from "../../../../src/web/time/local-day.ts";
import * as fc from "../../../support/fast-check.ts";

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Sao_Paulo",
  "America/St_Johns",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Asia/Beirut",
  "America/Havana",
  "Asia/Tehran",
];

/** Years of which the server and `Intl` know the same, whichever is the newer. */
const days = fc
  .integer({ min: Date.UTC(1990, 0) / 86_400_000, max: Date.UTC(2024, 11) / 86_400_000 })
  .map((count) => new Date(count * 86_400_000).toISOString().slice(0, 10) as LocalDay);
const zones = fc.constantFrom(...ZONES);

function day(text: string): LocalDay {
  const parsed = parseDay(text);
  if (parsed === null) throw new Error(`No day ${text}`);
  return parsed;
}

function startOf(text: string, zone: string): string {
  return new Date(rangeOf(day(text), zone).startMs).toISOString();
}

function hourCount(text: string, zone: string): number {
  const { startMs, endMs } = rangeOf(day(text), zone);
  return (endMs - startMs) / MS_PER_HOUR;
}

describe("rangeOf()", () => {
  test("a day is 23 or 25 hours long where clocks change", () => {
    expect(hourCount("2026-03-28", "Europe/Berlin")).toBe(24);
    expect(hourCount("2026-03-29", "Europe/Berlin")).toBe(23);
    expect(hourCount("2026-10-25", "Europe/Berlin")).toBe(25);
    expect(hourCount("2026-04-05", "Australia/Lord_Howe")).toBe(24.5);
  });

  test("begins after midnight where clocks leave it out", () => {
    expect(startOf("2018-11-04", "America/Sao_Paulo")).toBe("2018-11-04T03:00:00.000Z");
    expect(hourCount("2018-11-04", "America/Sao_Paulo")).toBe(23);
    expect(startOf("2018-11-05", "America/Sao_Paulo")).toBe("2018-11-05T02:00:00.000Z");
  });

  test("is empty where a zone left the day out", () => {
    expect(hourCount("2011-12-30", "Pacific/Apia")).toBe(0);
    expect(hourCount("2011-12-31", "Pacific/Apia")).toBe(24);
  });

  test("spans several days up to the one named", () => {
    const { startMs, endMs } = rangeOf(day("2026-11-04"), "America/New_York", 7);
    expect(new Date(startMs).toISOString()).toBe("2026-10-29T04:00:00.000Z");
    expect(new Date(endMs).toISOString()).toBe("2026-11-05T05:00:00.000Z");
  });

  test("is the server's", () => {
    const property = fc.property(days, zones, (each, zone) => {
      const date = parseDate(each)!;
      expect(rangeOf(each, zone)).toEqual(dayRange(date, date, parseZone(zone)!));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test("begins at the first minute that Luxon shows in the day", () => {
    const property = fc.property(days, zones, (each, zone) => {
      const isIn = (ms: number) => DateTime.fromMillis(ms, { zone }).toISODate()! >= each;
      let ms = Date.parse(each) - 15 * MS_PER_HOUR;
      while (!isIn(ms)) ms += 60_000;
      expect(rangeOf(each, zone).startMs).toBe(ms);
    });
    fc.assert(property, { numRuns: 100 });
  });
});

test("dayAt() is the day whose range has the instant", () => {
  const instants = fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2036, 11) });
  const property = fc.property(instants, zones, (ms, zone) => {
    const { startMs, endMs } = rangeOf(dayAt(ms, zone), zone);
    expect(startMs <= ms && ms < endMs).toBe(true);
  });
  fc.assert(property, { numRuns: 500 });
});

test("dayAt() keeps repeated minutes in the new day", () => {
  // Clocks of St. John's went from 00:01 back to 23:01 until 2011.
  const first = Date.UTC(2010, 10, 7, 2, 30);
  const repeated = Date.UTC(2010, 10, 7, 2, 45);
  expect(dayAt(first, "America/St_Johns")).toBe(day("2010-11-07"));
  expect(dayAt(repeated, "America/St_Johns")).toBe(day("2010-11-07"));
});

describe("hoursOf()", () => {
  test("lists the hours that a day has", () => {
    expect(hoursOf(day("2026-03-29"), "Europe/Berlin")).toHaveLength(23);
    expect(hoursOf(day("2026-10-25"), "Europe/Berlin")).toHaveLength(25);
    expect(hoursOf(day("2026-11-21"), "Asia/Kathmandu")).toHaveLength(24);
    expect(hoursOf(day("2011-12-30"), "Pacific/Apia")).toEqual([]);
  });

  test("covers the day without a hole, and begins each at a full hour but after a change", () => {
    const property = fc.property(days, zones, (each, zone) => {
      const { startMs, endMs } = rangeOf(each, zone);
      let at = startMs;
      for (const hour of hoursOf(each, zone)) {
        expect(hour.startMs).toBe(at);
        expect(hour.endMs - hour.startMs).toBeLessThanOrEqual(MS_PER_HOUR);
        const { minute } = DateTime.fromMillis(hour.endMs, { zone });
        if (zone !== "Australia/Lord_Howe" && zone !== "America/St_Johns") expect(minute).toBe(0);
        at = hour.endMs;
      }
      expect(at).toBe(endMs);
    });
    fc.assert(property, { numRuns: 200 });
  });
});

test("parseDay() takes days that exist, as they are written", () => {
  expect(parseDay("2024-02-29")).toBe("2024-02-29" as LocalDay);
  for (const text of [
    "2026-02-29",
    "2026-2-1",
    "",
    "0026-01-01",
    "2026-13-01",
    "2026-01-01T00:00",
    " 2026-01-01",
  ])
    expect(parseDay(text)).toBeNull();
});

test("addDays() walks the calendar", () => {
  expect(addDays(day("2024-02-28"), 1)).toBe(day("2024-02-29"));
  expect(addDays(day("2026-01-01"), -1)).toBe(day("2025-12-31"));
});

test("a calendar says which day it is, whatever it was asked before", () => {
  const hours = fc.integer({ min: 0, max: 100 }).map((hour) => Date.UTC(2018, 10, 2, hour, 59, 59, 999));
  const zones = fc.constantFrom("UTC", "America/Sao_Paulo", "Pacific/Kiritimati");
  const property = fc.property(fc.array(fc.tuple(hours, zones)), (asked) => {
    const calendar = new Calendar();
    for (const [ms, zone] of asked)
      for (const at of [ms, ms + 1]) expect(calendar.today(zone, at)).toBe(dayAt(at, zone));
  });
  fc.assert(property);
});
