import { describe, expect, test } from "bun:test";
import { DateTime } from "luxon";
import { createClockTimes } from "../../../../../src/formats/read/time/clock-times.ts";
import { parseZone, type Zone } from "../../../../../src/model/time/zone.ts";
import { findZoneHistory, zoneNames } from "../../../../../src/model/time/zone-table.ts";
import * as fc from "../../../../support/fast-check.ts";
import { createLuxonZone } from "../../../../support/luxon-zone.ts";

const HOUR_MS = 3_600_000;

function zoneNamed(name: string): Zone {
  return parseZone(name)!;
}

/** The instant at which clocks of the zone show the text, and what is said of it. */
function read(zone: string, text: string): [string, string | null] {
  const times = createClockTimes(zoneNamed(zone));
  const instantMs = times.instantMs(Date.parse(`${text}Z`));
  return [new Date(instantMs).toISOString(), times.remark];
}

/** What clocks show at an instant, as luxon reckons it. */
function shownAt(instantMs: number, zone: Zone): number {
  const local = DateTime.fromMillis(instantMs, { zone: createLuxonZone(zone) });
  return local.setZone("UTC", { keepLocalTime: true }).toMillis();
}

/** All instants at which clocks show the time, the obvious way: each offset that the zone ever had is tried. */
function instantsOf(clockMs: number, zone: Zone, offsetsMs: readonly number[]): number[] {
  return offsetsMs
    .map((offsetMs) => clockMs - offsetMs)
    .filter((instantMs) => shownAt(instantMs, zone) === clockMs)
    .toSorted((a, b) => a - b);
}

describe("createClockTimes()", () => {
  test("reads what clocks show once", () => {
    expect(read("Europe/Berlin", "2026-02-02T03:40:00")).toEqual(["2026-02-02T02:40:00.000Z", null]);
    expect(read("America/St_Johns", "2026-07-01T00:00:00")).toEqual(["2026-07-01T02:30:00.000Z", null]);
    expect(read("-08:00", "2026-07-01T00:00:00")).toEqual(["2026-07-01T08:00:00.000Z", null]);
  });

  test("takes the earlier of what clocks show twice", () => {
    expect(read("Europe/Berlin", "2026-10-25T01:59:59")).toEqual(["2026-10-24T23:59:59.000Z", null]);
    expect(read("Europe/Berlin", "2026-10-25T02:00:00")).toEqual([
      "2026-10-25T00:00:00.000Z",
      "repeated_hour",
    ]);
    expect(read("Europe/Berlin", "2026-10-25T02:59:59")).toEqual([
      "2026-10-25T00:59:59.000Z",
      "repeated_hour",
    ]);
    expect(read("Europe/Berlin", "2026-10-25T03:00:00")).toEqual(["2026-10-25T02:00:00.000Z", null]);
  });

  test("moves what clocks never show forward by the gap", () => {
    expect(read("Europe/Berlin", "2026-03-29T01:59:59")).toEqual(["2026-03-29T00:59:59.000Z", null]);
    expect(read("Europe/Berlin", "2026-03-29T02:00:00")).toEqual([
      "2026-03-29T01:00:00.000Z",
      "skipped_hour",
    ]);
    expect(read("Europe/Berlin", "2026-03-29T02:30:00")).toEqual([
      "2026-03-29T01:30:00.000Z",
      "skipped_hour",
    ]);
    expect(read("Europe/Berlin", "2026-03-29T03:00:00")).toEqual(["2026-03-29T01:00:00.000Z", null]);
    // Samoa left out a whole day.
    expect(read("Pacific/Apia", "2011-12-30T12:00:00")).toEqual(["2011-12-30T22:00:00.000Z", "skipped_hour"]);
  });

  test("agrees with luxon about every change of every zone", () => {
    for (const name of zoneNames()) {
      const zone = zoneNamed(name);
      const { untilMs, offsetMinutes } = findZoneHistory(name)!;
      const offsetsMs = [...new Set(offsetMinutes)].map((minutes) => minutes * 60_000);
      const times = createClockTimes(zone);
      // Until 1972 some clocks had seconds, which luxon rounds; from 2030 on the rules repeat.
      const changes = [...untilMs].filter((ms) => ms >= Date.UTC(1972, 0, 8) && ms < Date.UTC(2030, 0, 1));
      for (const changeMs of changes) {
        for (const aroundMs of [-2.5, -1, -0.5, 0, 0.25, 1, 2.5].map((hours) => hours * HOUR_MS)) {
          const clockMs = changeMs + aroundMs + zone.offsetMinutesAt(changeMs) * 60_000;
          const showing = instantsOf(clockMs, zone, offsetsMs);
          const instantMs = times.instantMs(clockMs);
          if (showing.length > 0) {
            expect([name, instantMs]).toEqual([name, showing[0]!]);
            expect(times.remark).toBe(showing.length > 1 ? "repeated_hour" : null);
          } else {
            expect(times.remark).toBe("skipped_hour");
            const gapMs = shownAt(changeMs, zone) - shownAt(changeMs - 1, zone) - 1;
            expect([name, shownAt(instantMs, zone)]).toEqual([name, clockMs + gapMs]);
          }
        }
      }
    }
  });

  test("reads the same in whichever order times come", () => {
    const zones = fc.constantFrom(...zoneNames());
    const hours = fc.array(fc.tuple(fc.nat(), fc.integer({ min: -40, max: 40 })), { minLength: 2 });
    fc.assert(
      fc.property(zones, hours, (name, picks) => {
        const zone = zoneNamed(name);
        const { untilMs } = findZoneHistory(name)!;
        const one = createClockTimes(zone);
        for (const [index, quarterHours] of picks) {
          const changeMs = untilMs[index % Math.min(untilMs.length, 3)]!;
          if (changeMs === Infinity) continue;
          const clockMs = changeMs + zone.offsetMinutesAt(changeMs) * 60_000 + (quarterHours * HOUR_MS) / 4;
          const other = createClockTimes(zone);
          expect(one.instantMs(clockMs)).toBe(other.instantMs(clockMs));
          expect(one.remark).toBe(other.remark);
        }
      }),
    );
  });
});
