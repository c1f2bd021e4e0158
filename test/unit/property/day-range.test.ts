import { expect, test } from "bun:test";
import { DateTime } from "luxon";
import { dayRange, type LocalDate, today } from "../../../src/model/time/range.ts";
import { parseZone, type Zone } from "../../../src/model/time/zone.ts";
import { findZoneHistory, zoneNames } from "../../../src/model/time/zone-table.ts";
import * as fc from "../../support/fast-check.ts";
import { createLuxonZone } from "../../support/luxon-zone.ts";

const MS_PER_MINUTE = 60_000;
const MS_PER_DAY = 86_400_000;

/** The obvious way: ask every minute, from when no clock on earth shows the date to when all have. */
function firstMinuteOf(dayMs: number, zone: Zone): number {
  for (let ms = dayMs - 16 * 60 * MS_PER_MINUTE; ; ms += MS_PER_MINUTE) {
    if (ms + zone.offsetMinutesAt(ms) * MS_PER_MINUTE >= dayMs) return ms;
  }
}

function dateOf(dayMs: number): LocalDate {
  return new Date(dayMs).toISOString().slice(0, 10) as LocalDate;
}

test("dayRange() agrees with asking every minute, around each change since 1973 in every zone", () => {
  const histories = new Map(zoneNames().map((name) => [findZoneHistory(name), name])); // Links share their zone's.
  let days = 0;
  for (const [history, name] of histories) {
    const zone = parseZone(name)!;
    for (const changeMs of history!.untilMs) {
      if (changeMs < Date.UTC(1973, 0, 1) || changeMs > Date.UTC(2038, 0, 1)) continue;
      const utcDayMs = Math.floor(changeMs / MS_PER_DAY) * MS_PER_DAY;
      for (const dayMs of [utcDayMs - MS_PER_DAY, utcDayMs, utcDayMs + MS_PER_DAY]) {
        const expected = firstMinuteOf(dayMs, zone);
        const { startMs } = dayRange(dateOf(dayMs), dateOf(dayMs), zone);
        const { endMs } = dayRange(dateOf(dayMs - MS_PER_DAY), dateOf(dayMs - MS_PER_DAY), zone);
        if (startMs !== expected || endMs !== expected)
          expect([name, dateOf(dayMs), startMs, endMs]).toEqual([name, dateOf(dayMs), expected, expected]);
        days++;
      }
    }
  }
  expect(days).toBeGreaterThan(30_000);
});

const zones = fc
  .constantFrom(...zoneNames(), "PST", "-14:00", "+14:00", "+05:30")
  .map((name) => parseZone(name)!);
const dayIndexes = fc.integer({
  min: Date.UTC(1850, 0, 1) / MS_PER_DAY,
  max: Date.UTC(2500, 0, 1) / MS_PER_DAY,
});

test("dayRange() gives each instant to one day, which is no later than today() says", () => {
  fc.assert(
    fc.property(zones, dayIndexes, (zone, dayIndex) => {
      const day = dateOf(dayIndex * MS_PER_DAY);
      const next = dateOf((dayIndex + 1) * MS_PER_DAY);
      const { startMs, endMs } = dayRange(day, day, zone);
      expect(dayRange(next, next, zone).startMs).toBe(endMs);
      expect(dayRange(day, next, zone).endMs).toBe(dayRange(next, next, zone).endMs);
      expect(startMs <= endMs).toBe(true);
      if (startMs === endMs) return; // A day the zone left out.
      if (Number.isInteger(zone.offsetMinutesAt(startMs))) expect(today(zone, startMs)).toBe(day);
      expect(today(zone, startMs - 1) < day).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

test("dayRange() agrees with luxon wherever midnight occurs once", () => {
  fc.assert(
    fc.property(zones, fc.integer({ min: 1100, max: 47_000 }), (zone, dayIndex) => {
      const dayMs = dayIndex * MS_PER_DAY;
      const { startMs } = dayRange(dateOf(dayMs), dateOf(dayMs), zone);
      const nearby = [-3, 3].map((hours) => zone.offsetMinutesAt(startMs + hours * 60 * MS_PER_MINUTE));
      fc.pre(nearby[0] === nearby[1]);
      const midnight = DateTime.fromISO(dateOf(dayMs), { zone: createLuxonZone(zone) });
      expect(startMs).toBe(midnight.toMillis());
    }),
    { numRuns: 3000 },
  );
});
