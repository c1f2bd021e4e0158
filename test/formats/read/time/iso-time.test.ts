import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DateTime, FixedOffsetZone } from "luxon";
import { parseIsoTime } from "../../../../src/formats/read/time/iso-time.ts";

function read(text: string): { clockMs: number; offsetMs: number } | null {
  const written = { clockMs: 0, offsetMs: 0 };
  return parseIsoTime(text, written) ? written : null;
}

/** What the text says as UTC, and its offset in minutes; null where it says none. */
function shown(text: string): string | null {
  const written = read(text);
  if (written === null) return null;
  const offset = Number.isNaN(written.offsetMs) ? "" : ` ${written.offsetMs / 60_000}`;
  return new Date(written.clockMs).toISOString() + offset;
}

describe("parseIsoTime()", () => {
  test.each([
    ["2026-02-02T02:40:00Z", "2026-02-02T02:40:00.000Z 0"],
    ["2026-02-02t02:40:00z", "2026-02-02T02:40:00.000Z 0"],
    ["2026-02-02 02:40:00", "2026-02-02T02:40:00.000Z"],
    ["2026-02-02 02:40", "2026-02-02T02:40:00.000Z"],
    ["2026-02-02T02:40Z", "2026-02-02T02:40:00.000Z 0"],
    ["2026-02-02T02:40:00.5", "2026-02-02T02:40:00.500Z"],
    ["2026-02-02T02:40:00,25Z", "2026-02-02T02:40:00.250Z 0"],
    ["2026-02-02T02:40:00.123999999Z", "2026-02-02T02:40:00.123Z 0"],
    ["2026-02-02T03:40:00+01:00", "2026-02-02T03:40:00.000Z 60"],
    ["2026-02-02T03:40:00.000+0130", "2026-02-02T03:40:00.000Z 90"],
    ["2026-02-02 03:40:00+01", "2026-02-02T03:40:00.000Z 60"],
    ["2026-02-02 03:40:00 -0530", "2026-02-02T03:40:00.000Z -330"],
    ["2026-02-02 02:40:00 UTC", "2026-02-02T02:40:00.000Z 0"],
    ["2026-02-02T02:40-00:00", "2026-02-02T02:40:00.000Z 0"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z 0"],
    ["2026-12-31T24:00:00Z", "2027-01-01T00:00:00.000Z 0"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z 0"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z 0"],
  ])("reads %s", (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test.each([
    "",
    "2026-02-02",
    "2026-02",
    "2026-02-02T",
    "2026-02-02T02",
    "2026-02-02T02:4",
    "2026-02-02T02:40:",
    "2026-02-02T02:40:0",
    "2026-02-02T02:40:00.",
    "2026-02-02T02:40:00.Z",
    "2026-02-02T02:40:61Z",
    "2026-02-02T02:60:00Z",
    "2026-02-02T24:00:01Z",
    "2026-02-02T25:00:00Z",
    "2026-02-30T02:40:00Z",
    "2026-04-31T02:40:00Z",
    "2025-02-29T02:40:00Z",
    "1900-02-29T02:40:00Z",
    "2026-13-01T02:40:00Z",
    "2026-00-01T02:40:00Z",
    "2026-01-00T02:40:00Z",
    "0000-01-01T02:40:00Z",
    "2026-02-02T02:40:00X",
    "2026-02-02T02:40:00ZZ",
    "2026-02-02T02:40:00+1",
    "2026-02-02T02:40:00+1:00",
    "2026-02-02T02:40:00+01:0",
    "2026-02-02T02:40:00+01:00:00",
    "2026-02-02T02:40:00+24:00",
    "2026-02-02T02:40:00+01:60",
    "2026-02-02T02:40:00 ",
    "2026/02/02T02:40:00Z",
    "2026-02-02_02:40:00Z",
    "2026-02-02T02.40.00Z",
    "２026-02-02T02:40:00Z",
  ])("takes '%s' for no time", (text) => {
    expect(read(text)).toBeNull();
  });

  test("agrees with luxon about every time that it writes", () => {
    const instants = fc.integer({ min: -62_000_000_000_000, max: 4_000_000_000_000 }); // From the year 5 on.
    const offsets = fc.integer({ min: -14 * 60, max: 14 * 60 });
    fc.assert(
      fc.property(instants, offsets, (instantMs, offset) => {
        const time = DateTime.fromMillis(instantMs, { zone: FixedOffsetZone.instance(offset) });
        const clockMs = instantMs + offset * 60_000;
        expect(read(time.toISO()!)).toEqual({ clockMs, offsetMs: offset * 60_000 });
        expect(read(time.toISO({ includeOffset: false })!)).toEqual({ clockMs, offsetMs: Number.NaN });
      }),
    );
  });
});
