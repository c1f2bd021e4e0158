import { describe, expect, test } from "bun:test";
import { instantOf, parseSentence, readMinimum } from "../../../src/clients/nmea-sentence.ts";
import * as fc from "../../support/fast-check.ts";

/** Degrees as GPSLogger writes them: not padded, with five decimals of a minute. */
function unpadded(degrees: number): string {
  const whole = Math.trunc(degrees);
  return `${whole}${((degrees - whole) * 60).toFixed(5).padStart(8, "0")}`;
}

function sentenceOf(latitude: number, longitude: number, knots: number): string {
  const north = `${unpadded(Math.abs(latitude))},${latitude < 0 ? "S" : "N"}`;
  const east = `${unpadded(Math.abs(longitude))},${longitude < 0 ? "W" : "E"}`;
  return `$GPRMC,024000,A,${north},${east},${knots},0,020226,,`;
}

function withChecksum(sentence: string): string {
  let checksum = 0;
  for (const byte of Buffer.from(sentence.slice(1))) checksum ^= byte;
  return `${sentence}*${checksum.toString(16).padStart(2, "0").toUpperCase()}`;
}

/** What an RMC says; null for what is no such sentence. */
function parseRmc(text: string) {
  const sentence = parseSentence(text);
  if (sentence === null || "fault" in sentence || sentence.kind !== "RMC") return null;
  const { dayMs, timeMs, ...rest } = readMinimum(sentence.fields);
  return { timestampMs: instantOf(dayMs, timeMs), ...rest };
}

describe("readMinimum()", () => {
  test("finds every position again, within what five decimals of a minute tell", () => {
    const degrees = (max: number) => fc.double({ min: -max, max, noNaN: true });
    fc.assert(
      fc.property(degrees(89.9), degrees(179.9), fc.nat({ max: 200 }), (latitude, longitude, knots) => {
        const fix = parseRmc(withChecksum(sentenceOf(latitude, longitude, knots)))!;
        expect(Math.abs(fix.latitude! - latitude)).toBeLessThan(2e-7);
        expect(Math.abs(fix.longitude! - longitude)).toBeLessThan(2e-7);
        expect(fix).toMatchObject({ hasFix: true, speed: knots, timestampMs: 1_770_000_000_000 });
      }),
    );
  });

  test("notices any character that is another, where there is a checksum", () => {
    const sentence = withChecksum(sentenceOf(52.52, 13.4, 25));
    fc.assert(
      fc.property(
        fc.nat({ max: sentence.length - 4 }),
        fc.constantFrom(..."0123456789NSEWAV.,"),
        (at, other) => {
          fc.pre(sentence[at] !== other);
          expect(parseRmc(`${sentence.slice(0, at)}${other}${sentence.slice(at + 1)}`)).toBeNull();
        },
      ),
    );
  });

  test.each([
    ["padded degrees", "$GPRMC,024000,A,0531.2,N,00524.3,E,1,2,020226,,", 5.52, 5.405],
    ["no degrees", "$GPRMC,024000,A,31.2,S,24.3,W,1,2,020226,,", -0.52, -0.405],
    ["satellites of several systems", "$GNRMC,024000.00,A,5231.2,N,1324.3,E,1,2,020226,,,A", 52.52, 13.405],
  ])("reads %s", (_title, sentence, latitude, longitude) => {
    expect(parseRmc(sentence)).toMatchObject({ latitude, longitude, timestampMs: 1_770_000_000_000 });
  });

  test("takes 60 minutes for a degree, as rounding makes them, and more for nothing", () => {
    const latitudeOf = (text: string) => parseRmc(`$GPRMC,024000,A,${text},N,1324.3,E,1,2,020226`)?.latitude;
    expect(latitudeOf("5260.00000")).toBe(53);
    for (const text of ["5260.00001", "5275.0000", "5299.9999"]) expect(latitudeOf(text)).toBeNaN();
  });

  test("leaves out what is missing", () => {
    expect(parseRmc("$GPRMC,,V,,,,,,,,,")).toEqual({
      hasFix: false,
      timestampMs: null,
      latitude: null,
      longitude: null,
      speed: null,
      bearing: null,
    });
  });

  test.each([
    ["a fraction of a second", "$GPRMC,024000.5,A,,,,,,,020226", 1_770_000_000_500],
    ["a leap second", "$GPRMC,024060,A,,,,,,,020226", 1_770_000_059_999],
    ["a second that is none", "$GPRMC,024061,A,,,,,,,020226", Number.NaN],
    ["a day that is none", "$GPRMC,024000,A,,,,,,,310226", Number.NaN],
    ["a month that is none", "$GPRMC,024000,A,,,,,,,021326", Number.NaN],
    ["no date", "$GPRMC,024000,A,,,,,,,", null],
  ])("has the time of %s", (_title, sentence, timestampMs) => {
    expect(parseRmc(sentence)?.timestampMs).toBe(timestampMs);
  });

  test("knows no other sentence", () => {
    expect(parseRmc("$GPGGA,024000,5231.2,N,1324.3,E,1,8,0.9,34,M,46,M,,")).toBeNull();
    expect(parseRmc("5231.2,N")).toBeNull();
    expect(parseRmc(`$GPRMC,${"0".repeat(300)}`)).toBeNull();
  });
});
