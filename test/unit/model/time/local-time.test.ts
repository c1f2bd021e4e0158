import { describe, expect, test } from "bun:test";
import { createLocalTimeFormatter, LOCAL_TIME_BYTES } from "../../../../src/model/time/local-time.ts";
import { parseZone, UTC, type Zone } from "../../../../src/model/time/zone.ts";
import { zoneNames } from "../../../../src/model/time/zone-table.ts";
import * as fc from "../../../support/fast-check.ts";

const berlin = parseZone("Europe/Berlin")!;

/** The obvious way: shift, let `Date` write it, and put the offset behind. */
function obviousText(zone: Zone, timestampMs: number): string {
  const minutes = Math.round(zone.offsetMinutesAt(timestampMs));
  const distance = Math.abs(minutes);
  const offset = `${minutes < 0 ? "-" : "+"}${two(distance / 60)}:${two(distance % 60)}`;
  return new Date(timestampMs + minutes * 60_000).toISOString().replace("Z", offset);
}

function two(value: number): string {
  return String(Math.trunc(value)).padStart(2, "0");
}

describe("createLocalTimeFormatter()", () => {
  test("writes the offset of the moment, summer time included", () => {
    const formatter = createLocalTimeFormatter(berlin);
    const changeMs = Date.UTC(2026, 2, 29, 1);
    expect(formatter.text(changeMs - 1)).toBe("2026-03-29T01:59:59.999+01:00");
    expect(formatter.text(changeMs)).toBe("2026-03-29T03:00:00.000+02:00");
  });

  test("writes UTC as +00:00, and offsets west of it", () => {
    expect(createLocalTimeFormatter(UTC).text(0)).toBe("1970-01-01T00:00:00.000+00:00");
    expect(createLocalTimeFormatter(parseZone("-00:30")!).text(0)).toBe("1969-12-31T23:30:00.000-00:30");
    expect(createLocalTimeFormatter(parseZone("-14:00")!).text(-1)).toBe("1969-12-31T09:59:59.999-14:00");
  });

  test("writes 29 bytes where it is told to, and nothing else", () => {
    const out = new Uint8Array(40).fill(1);
    expect(createLocalTimeFormatter(berlin).write(Date.UTC(2262, 3, 11, 23, 47, 16, 854), out, 5)).toBe(34);
    expect(LOCAL_TIME_BYTES).toBe(29);
    expect(new TextDecoder().decode(out.subarray(5, 34))).toBe("2262-04-12T01:47:16.854+02:00");
    expect([...out.subarray(0, 5), ...out.subarray(34)]).toEqual(Array(11).fill(1));
  });

  test("follows changes that aren't on a quarter hour", () => {
    const formatter = createLocalTimeFormatter(parseZone("America/St_Johns")!); // Changed at 00:01 until 2011.
    const changeMs = Date.UTC(2010, 10, 7, 2, 31);
    expect(formatter.text(changeMs - 1)).toBe("2010-11-07T00:00:59.999-02:30");
    expect(formatter.text(changeMs)).toBe("2010-11-06T23:01:00.000-03:30");
  });

  test("names the instant exactly where an offset has seconds", () => {
    const instantMs = Date.UTC(1971, 0, 1); // -00:44:30
    const text = createLocalTimeFormatter(parseZone("Africa/Monrovia")!).text(instantMs);
    expect(text).toBe("1970-12-31T23:16:00.000-00:44");
    expect(Date.parse(text)).toBe(instantMs);
  });

  test("writes the years 0000 to 9999 and refuses others", () => {
    const formatter = createLocalTimeFormatter(UTC);
    expect(formatter.text(Date.parse("0000-01-01T00:00:00Z"))).toBe("0000-01-01T00:00:00.000+00:00");
    expect(formatter.text(Date.parse("9999-12-31T23:59:59.999Z"))).toBe("9999-12-31T23:59:59.999+00:00");
    for (const timestampMs of [Date.parse("0000-01-01T00:00:00Z") - 1, Date.UTC(10_000, 0, 1), Number.NaN]) {
      expect(() => formatter.text(timestampMs)).toThrow("four digits");
    }
  });

  test("writes the next instant rightly whatever came before it", () => {
    // Steps crowd the edges of what the formatter remembers: milliseconds, days, changes of the clock.
    const steps = fc.oneof(
      fc.integer({ min: -2000, max: 2000 }),
      fc.integer({ min: -90_000_000, max: 90_000_000 }),
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...zoneNames()),
        fc.integer({ min: Date.UTC(1970, 1, 1), max: Date.UTC(2262, 0, 1) }),
        fc.array(steps, { maxLength: 20 }),
        (name, startMs, walk) => {
          const zone = parseZone(name)!;
          const formatter = createLocalTimeFormatter(zone);
          let timestampMs = startMs;
          for (const step of [0, ...walk]) {
            timestampMs += step;
            expect(formatter.text(timestampMs)).toBe(obviousText(zone, timestampMs));
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
