import { describe, expect, test } from "bun:test";
import { Simplifier } from "../../../../src/formats/write/simplify.ts";
import { haversineMeters } from "../../../../src/model/geo/distance.ts";
import { NUMBER_FIELDS } from "../../../../src/model/location-fields.ts";
import type { RecordColumns } from "../../../../src/model/record-columns.ts";
import * as fc from "../../../support/fast-check.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { rowsOf } from "./arbitrary-records.ts";

interface Fix {
  readonly device: string;
  readonly atMs: number;
  readonly latitude: number;
  readonly longitude: number;
}

function columnsOfFixes(fixes: readonly Fix[]): RecordColumns {
  const column = (of: (fix: Fix) => number) => Float64Array.from(fixes, of);
  return {
    count: fixes.length,
    deviceIds: fixes.map(({ device }) => device),
    timestampMs: column(({ atMs }) => atMs),
    numbers: NUMBER_FIELDS.map(({ name }) =>
      column((fix) => (name === "latitude" || name === "longitude" ? fix[name] : Number.NaN)),
    ),
    profiles: fixes.map(({ device, atMs }) => `["${device} at ${atMs}"]`),
    states: fixes.map(({ atMs }) => `["${atMs}"]`),
  };
}

/** What stays of records that come in pieces; every piece is checked to be whole records. */
function simplify(fixes: readonly Fix[], meters: number, gapMs: number, pieceRows: number) {
  const simplifier = new Simplifier(meters, gapMs);
  const kept = [];
  for (let from = 0; from < fixes.length; from += pieceRows) {
    kept.push(...rowsOf(simplifier.take(columnsOfFixes(fixes.slice(from, from + pieceRows)))));
  }
  kept.push(...rowsOf(simplifier.end()));
  return kept;
}

/** How far a fix is from the way between two others, found by walking that way in small steps. */
function metersFrom(fix: Fix, a: Fix, b: Fix): number {
  const vector = ({ latitude, longitude }: Fix) => {
    const [phi, lambda] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)] as const;
  };
  const [from, to] = [vector(a), vector(b)];
  let best = Number.POSITIVE_INFINITY;
  const steps = 400;
  for (let step = 0; step <= steps; step++) {
    const [x, y, z] = from.map((value, axis) => value + ((to[axis]! - value) * step) / steps) as [
      number,
      number,
      number,
    ];
    const latitude = (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI;
    const longitude = (Math.atan2(y, x) * 180) / Math.PI;
    best = Math.min(best, haversineMeters(fix.latitude, fix.longitude, latitude, longitude));
  }
  return best;
}

const GAP_MS = 60_000;
/** Walks near a city, the antimeridian and a pole, with stops, silences and jumps. */
const walk = fc
  .tuple(
    fc.constantFrom([52.5, 13.4], [0.001, 179.9995], [89.999, 20]),
    fc.array(
      fc.record({
        north: fc.integer({ min: -30, max: 30 }),
        east: fc.integer({ min: -30, max: 30 }),
        seconds: fc.constantFrom(1, 10, 59, 60, 61, 300),
      }),
      { maxLength: 60 },
    ),
    fc.boolean(),
  )
  .map(([[startLatitude, startLongitude], steps, isStraight]) => {
    let [latitude, longitude, atMs] = [Number(startLatitude), Number(startLongitude), 1_700_000_000_000];
    return steps.map(({ north, east, seconds }) => {
      latitude = Math.min(90, latitude + (isStraight ? 20 : north) / 1e6);
      longitude += (isStraight ? 0 : east) / 1e6;
      if (longitude > 180) longitude -= 360;
      atMs += seconds * 1000;
      return { latitude, longitude, atMs };
    });
  });
const fleets = fc
  .array(walk, { maxLength: 3 })
  .map((walks) =>
    walks.flatMap((fixes, index) => fixes.map((fix): Fix => ({ ...fix, device: `device ${index}` }))),
  );

function expectFaithful(fixes: readonly Fix[], meters: number, pieceRows: number): void {
  const kept = simplify(fixes, meters, GAP_MS, pieceRows);
  const all = rowsOf(columnsOfFixes(fixes));
  const keptIndexes = kept.map((row) => all.findIndex(({ profile }) => profile === row.profile));
  expect(kept).toEqual(keptIndexes.map((index) => all[index]!)); // Whole records,
  expect(keptIndexes).toEqual([...new Set(keptIndexes)].sort((a, b) => a - b)); // each once, in their order.
  for (const [index, fix] of fixes.entries()) {
    const before = fixes[index - 1];
    const beginsStretch = before?.device !== fix.device || fix.atMs - before.atMs > GAP_MS;
    if (beginsStretch && index > 0) expect(keptIndexes).toContain(index - 1);
    if (beginsStretch) expect(keptIndexes).toContain(index);
    if (keptIndexes.includes(index)) continue;
    const b = keptIndexes.find((each) => each > index)!;
    const a = keptIndexes.findLast((each) => each < index)!;
    expect(metersFrom(fix, fixes[a]!, fixes[b]!)).toBeLessThan(meters * 1.01 + 0.02);
    expect(fixes[b]!.atMs - fixes[a]!.atMs).toBeLessThanOrEqual(GAP_MS);
  }
}

describe("Simplifier", () => {
  test("leaves out nothing that is further than the tolerance from what stays, and keeps silences as they are", () => {
    fc.assert(
      fc.property(fleets, fc.constantFrom(0.5, 2, 100), fc.integer({ min: 1, max: 40 }), expectFaithful),
      { numRuns: 300 },
    );
  });

  test("does so where a stretch is longer than what is looked at together", () => {
    const random = seededRandom(7);
    let [latitude, longitude] = [52.5, 13.4];
    const fixes = Array.from({ length: 2600 }, (_, index): Fix => {
      latitude += (random() - 0.4) / 1e5;
      longitude += (random() - 0.5) / 1e5;
      return { device: "a", atMs: index * 1000, latitude, longitude };
    });
    expectFaithful(fixes, 5, 333);
  });

  test("keeps what lies beyond the ends of a line that it is on", () => {
    const line = [0, 0.002, -0.001, 0.001].map((longitude, index) => {
      return { device: "a", atMs: index, latitude: 0, longitude };
    });
    expect(simplify(line, 5, 1e9, 10)).toHaveLength(4);
  });

  test("keeps the ends of a straight line alone, however the window cuts it", () => {
    const fixes = Array.from({ length: 5000 }, (_, index) => {
      return { device: "a", atMs: index, latitude: 10 + index / 1e5, longitude: 20 };
    });
    const kept = simplify(fixes, 1, 1e9, 700);
    expect(kept.length).toBeLessThan(10);
    expect(kept.at(0)!.timestampMs).toBe(0);
    expect(kept.at(-1)!.timestampMs).toBe(4999);
  });

  test("measures from the last that stayed, also in the next window", () => {
    const fixes = Array.from({ length: 4000 }, (_, index) => {
      const [north, east] = [Math.min(index, 1023), Math.max(0, index - 1023)];
      return { device: "a", atMs: index, latitude: north / 1e4, longitude: east / 1e4 };
    });
    const kept = simplify(fixes, 1, 1e9, 500).map(({ timestampMs }) => timestampMs);
    expect(kept).toEqual([0, 1023, 2046, 3069, 3999]); // The corner, and the ends of windows.
  });

  test("keeps both ends of a standstill and every corner", () => {
    const corner = [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0.001],
      [0, 0.002],
      [0.001, 0.002],
      [0.002, 0.002],
    ];
    const fixes = corner.map(([latitude, longitude], index) => {
      return { device: "a", atMs: index, latitude: latitude!, longitude: longitude! };
    });
    expect(simplify(fixes, 5, 1e9, 3).map(({ timestampMs }) => timestampMs)).toEqual([0, 4, 6]);
  });
});
