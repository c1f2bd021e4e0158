import { expect, test } from "bun:test";
import { readTimeMs } from "../../../../src/clients/reading/time.ts";
import * as fc from "../../../support/fast-check.ts";

test("readTimeMs() agrees with Date.parse on whole seconds in UTC", () => {
  const date = fc.date({ min: new Date("1970-01-01T00:00:01Z"), max: new Date("9999-12-31T23:59:59Z") });
  fc.assert(
    fc.property(
      date.filter((time) => !Number.isNaN(time.getTime())),
      (time) => {
        const text = `${time.toISOString().slice(0, 19)}Z`;
        expect(readTimeMs(text)).toBe(Date.parse(text));
      },
    ),
  );
});

test("readTimeMs() agrees with Date.parse where any character of a time is another", () => {
  const index = fc.nat({ max: 18 });
  const character = fc.constantFrom(..."0123456789-:TZ x");
  fc.assert(
    fc.property(index, character, (at, other) => {
      const text = `${TIME.slice(0, at)}${other}${TIME.slice(at + 1)}`;
      const parsedMs = ISO.test(text) && isThere(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN;
      expect(readTimeMs(text)).toBe(parsedMs > 0 ? parsedMs : null);
    }),
    { numRuns: 2000 },
  );
});

const TIME = "2026-02-28T23:40:50Z";
/** February 29 to 31 are days in March for JavaScript. */
const isThere = (text: string) => !text.startsWith("2026-02-29") && !text.startsWith("2026-02-3");
const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ$/;

test.each([
  ["seconds", 1_770_000_000, 1_770_000_000_000],
  ["seconds with a fraction", "1770000000.5", 1_770_000_000_500],
  ["milliseconds", 1_770_000_000_123, 1_770_000_000_123],
  ["a time with milliseconds", "2026-02-02T02:40:00.120Z", 1_770_000_000_120],
  ["a time with microseconds in a zone", "2026-02-02T03:40:00.123456+01:00", 1_770_000_000_123],
  ["a zone without a colon", "2026-02-01T19:40:00-0700", 1_770_000_000_000],
  ["a zone that a form made a blank of", "2026-02-02T02:40:00 Z", 1_770_000_000_000],
  ["no zone", "2026-02-02 02:40:00", 1_770_000_000_000],
  ["midnight at a day's end", "2026-02-01T24:00:00Z", Date.UTC(2026, 1, 2)],
  ["a leap day", "2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
  ["a leap day of no leap year", "2026-02-29T00:00:00Z", null],
  ["a day that is none, in a zone", "2026-04-31T00:00:00.5+01:00", null],
  ["a month that is none", "2026-13-01T00:00:00Z", null],
  ["a year before GPS", "0070-01-01T00:00:00Z", null],
  ["zero", 0, null],
  ["a word", "now", null],
  ["nothing", undefined, null],
])("readTimeMs() reads %s", (_title, value, timeMs) => {
  expect(readTimeMs(value)).toBe(timeMs);
});
