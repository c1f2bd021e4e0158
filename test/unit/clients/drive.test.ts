import { describe, expect, test } from "bun:test";
import { CLIENT_NAMES, type ClientMessage } from "../../../src/clients/client.ts";
import { CLIENTS, readerOf } from "../../../src/clients/clients.ts";
import { collect, messageOf } from "../../support/clients/collected.ts";
import { DIALECTS, type Dialect, type Fix } from "../../support/clients/dialects.ts";
import * as fc from "../../support/fast-check.ts";

/*
 * Goal: a drive is the same drive whichever app recorded it. Method: fixes of known speed, written as each client
 * writes them, are read on the path that its user types.
 */

const fixes: fc.Arbitrary<Fix> = fc.record({
  timestampMs: fc.integer({ min: 1_700_000_000, max: 1_800_000_000 }).map((seconds) => seconds * 1000),
  latitude: fc.integer({ min: 1, max: 89_000_000 }).map((microdegrees) => microdegrees / 1e6),
  longitude: fc.integer({ min: 1, max: 179_000_000 }).map((microdegrees) => microdegrees / 1e6),
  speedMps: fc.integer({ min: 2_000, max: 90_000 }).map((millimeters) => millimeters / 1000),
});

function readFix(dialect: Dialect, fix: Fix, other: Partial<ClientMessage> = {}) {
  const path = CLIENTS.find(({ name }) => name === dialect.path)!;
  const { content, ...rest } = dialect.write(fix);
  const { points, refused, skipped } = collect(
    readerOf(path, content),
    messageOf(content, { ...rest, ...other }),
  );
  expect([refused, skipped, points.length]).toEqual([[], [], 1]);
  return points[0]!;
}

test("every client has a dialect here", () => {
  expect(new Set(DIALECTS.map(({ path }) => path))).toEqual(new Set(CLIENT_NAMES));
});

describe("a drive is the same as recorded by", () => {
  test.each(DIALECTS.map((dialect) => [dialect.title, dialect] as const))("%s", (_title, dialect) => {
    fc.assert(
      fc.property(fixes, (fix) => {
        const point = readFix(dialect, fix);
        expect(point.timestampMs).toBe(fix.timestampMs);
        expect(Math.abs(point.latitude! - fix.latitude)).toBeLessThan(2e-7);
        expect(Math.abs(point.longitude! - fix.longitude)).toBeLessThan(2e-7);
        expect(Math.abs(point.details.speed! - fix.speedMps)).toBeLessThan(dialect.roundingMps + 1e-9);
      }),
    );
  });
});

describe("the operator's unit goes before that of", () => {
  test.each(DIALECTS.map((dialect) => [dialect.title, dialect] as const))("%s", (_title, dialect) => {
    const fix = { timestampMs: 1_770_000_000_000, latitude: 52.5, longitude: 13.4, speedMps: 20 };
    const sent = readFix(dialect, fix, { speedUnit: "mps" }).details.speed!;
    const { details } = readFix(dialect, fix, { speedUnit: "kmh" });
    expect(details.speed).toBeCloseTo(sent / 3.6, 3);
  });
});
