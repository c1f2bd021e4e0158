import { describe, expect, test } from "bun:test";
import {
  OUTLIERS_MAX,
  OutlierFinder,
  type OutlierRule,
  USUAL_SPEED_MAX,
} from "../../../../src/model/geo/outliers.ts";
import * as fc from "../../../support/fast-check.ts";
import { csvRows, readTestData } from "../../../support/test-data.ts";
import { obviousOutliers, type Position, percentile99, speedOf } from "./obvious-outliers.ts";

const USUAL: OutlierRule = { speedMax: USUAL_SPEED_MAX, accuracyMetersMax: null };
const START_MS = 1_700_000_000_000;
const METERS_PER_DEGREE = 111_195;

function outliersOf(positions: readonly Position[], rule = USUAL) {
  const finder = new OutlierFinder(rule);
  for (const at of positions) finder.add(at.timestampMs, at.latitude, at.longitude, at.accuracy);
  return finder.end();
}

/** Positions every 10 s. Each is this many meters north of a place. */
function path(...meters: readonly number[]): Position[] {
  return meters.map((north, index) => at(10 * index, 53 + north / METERS_PER_DEGREE, -3));
}

function at(seconds: number, latitude: number, longitude: number, accuracy = Number.NaN): Position {
  return { timestampMs: START_MS + 1000 * seconds, latitude, longitude, accuracy };
}

/** The indexes of outliers among positions every 10 s. */
function indexesOf(positions: readonly Position[], rule = USUAL) {
  return outliersOf(positions, rule).outliers.map(({ timestampMs }) => (timestampMs - START_MS) / 10_000);
}

describe("OutlierFinder", () => {
  test("finds a position that the device can't have come from and gone to", () => {
    const { outliers, total } = outliersOf(path(0, 100, 9000, 300, 400));
    expect(total).toBe(1);
    expect(outliers).toEqual([
      {
        ...{ timestampMs: START_MS + 20_000, latitude: 53 + 9000 / METERS_PER_DEGREE, longitude: -3 },
        ...{ reason: "jump", speed: expect.any(Number) },
      },
    ]);
    expect(outliers[0]!.speed!).toBeCloseTo(870, 0); // Back is shorter by 30 m.
  });

  test("leaves a device alone that moved on, or is only far away for longer", () => {
    expect(indexesOf(path(0, 100, 9000, 9100, 9200))).toEqual([]);
    expect(indexesOf(path(0, 100, 9000, 9100, 200, 300))).toEqual([]);
    expect(indexesOf(path(0, 690, 0, 690, 0))).toEqual([]);
  });

  test("never finds the first and the last position", () => {
    expect(indexesOf(path(9000, 0, 0, 0, 9000))).toEqual([]);
    expect(indexesOf([at(0, 1, 1), at(10, 0, 0)])).toEqual([]);
    expect(indexesOf([at(0, 1, 1, 50), at(10, 1, 1, 50)], { ...USUAL, accuracyMetersMax: 10 })).toEqual([0]);
  });

  test("finds each of several jumps, also if they lead to one place again and again", () => {
    expect(indexesOf(path(0, 9000, 100, 9000, 200, 9000, 300))).toEqual([1, 3, 5]);
  });

  test("finds positions at 0,0, which are no neighbors of others", () => {
    const [a, b, c] = path(0, 100, 200);
    const zero = (seconds: number) => at(seconds, 0, -0);
    const positions = [zero(-20), zero(-10), a!, zero(5), b!, zero(15), c!];
    const { outliers } = outliersOf(positions);
    expect(outliers.map(({ reason, speed }) => [reason, speed])).toEqual(
      Array.from({ length: 4 }, () => ["zero_position", null]),
    );
    expect(indexesOf(positions)).toEqual([-2, -1, 0.5, 1.5]);
  });

  test("finds positions that are less accurate than the limit, which are no neighbors of others", () => {
    const rule = { ...USUAL, accuracyMetersMax: 20 };
    const positions = path(0, 9000, 100, 9000, 200).map((position, index) => ({
      ...position,
      accuracy: [5, 20.1, Number.NaN, 21, 20][index]!,
    }));
    expect(outliersOf(positions, rule).outliers.map(({ reason }) => reason)).toEqual([
      "inaccurate",
      "inaccurate",
    ]);
    expect(indexesOf(positions, rule)).toEqual([1, 3]);
  });

  test("suits its limit to a fast device, and jumps don't raise it", () => {
    const flight = Array.from({ length: 500 }, (_, i) => (i % 5 === 3 ? 4_000_000 : 2500 * i));
    const { speedMaxOfDevice, total } = outliersOf(path(...flight));
    expect(speedMaxOfDevice).toBeGreaterThan(5 * 250);
    expect(speedMaxOfDevice).toBeLessThan(5 * 250 * 1.02);
    expect(total).toBe(0); // It is always faster than the usual limit.
    expect(outliersOf(path(...flight), { ...USUAL, speedMax: speedMaxOfDevice }).total).toBe(100);
    const walk = Array.from({ length: 60 }, (_, i) => (i === 30 ? 9000 : 15 * i));
    expect(outliersOf(path(...walk))).toMatchObject({ speedMaxOfDevice: USUAL_SPEED_MAX, total: 1 });
    expect(outliersOf([]).speedMaxOfDevice).toBe(USUAL_SPEED_MAX);
  });

  test("has the oldest outliers, in order, if there are too many", () => {
    const positions = Array.from({ length: 2 * OUTLIERS_MAX + 21 }, (_, i) =>
      i % 2 === 0 ? at(10 * i, 53, -3) : i % 3 === 0 ? at(10 * i, 0, 0) : at(10 * i, 53.5, -3),
    );
    const { outliers, total } = outliersOf(positions);
    expect(total).toBe(OUTLIERS_MAX + 10);
    expect(outliers.map(({ timestampMs }) => (timestampMs - START_MS) / 10_000)).toEqual(
      Array.from({ length: OUTLIERS_MAX }, (_, i) => 2 * i + 1),
    );
  });
});

const places = fc.constantFrom(
  [0, 0],
  [53, -3],
  [-17.7, 180],
  [-17.7, -180],
  [65, -179.9999],
  [90, 0],
  [-89.999, 33],
);

/** Walks, drives, flights, jumps and spikes around hard places, at times that may be a millisecond apart. */
const tracks = fc
  .array(
    fc.record({
      place: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: places }),
      stepMs: fc.constantFrom(1, 900, 10_000, 60_000, 3_600_000),
      meters: fc.constantFrom(0, 3, 150, 710, 2500, 60_000),
      isSpike: fc.boolean(),
      accuracy: fc.constantFrom(Number.NaN, 0, 5, 5.1, 3000),
    }),
    { maxLength: 120, size: "max" },
  )
  .map((steps) => {
    let [timestampMs, latitude, longitude] = [START_MS, 53, -3];
    return steps.map(({ place, stepMs, meters, isSpike, accuracy }) => {
      timestampMs += stepMs;
      if (place !== null) [latitude, longitude] = place as [number, number];
      const east = meters / METERS_PER_DEGREE / Math.max(0.01, Math.cos((latitude * Math.PI) / 180));
      const moved = ((longitude + east + 540) % 360) - 180;
      if (!isSpike) longitude = moved;
      const isZero = latitude === 0 && longitude === 0;
      return { timestampMs, latitude, longitude: isSpike && !isZero ? moved : longitude, accuracy };
    });
  });

const rules = fc.record({
  speedMax: fc.constantFrom(1, 12, 70, 300),
  accuracyMetersMax: fc.constantFrom(null, 0, 5),
});

test("OutlierFinder agrees with the rule, word by word", () => {
  fc.assert(
    fc.property(tracks, rules, (positions, rule) => {
      const { outliers, speeds } = obviousOutliers(positions, rule);
      const found = outliersOf(positions, rule);
      expect(found.total).toBe(outliers.length);
      expect(found.outliers).toEqual(
        outliers.map(({ position: { timestampMs, latitude, longitude }, reason, speed }) => ({
          ...{ timestampMs, latitude, longitude },
          ...{ reason, speed },
        })),
      );
      const limit = Math.max(USUAL_SPEED_MAX, 5 * percentile99(speeds));
      expect(found.speedMaxOfDevice).toBeGreaterThan(limit * 0.999_999);
      expect(found.speedMaxOfDevice).toBeLessThan(limit * 1.0101);
    }),
    { numRuns: 500 },
  );
});

/** Where buses of Boston's Silver Line seem to be, again and again, while they are in a tunnel. */
const TUNNEL = at(0, 42.348, -71.0419);

const text = readTestData("tracks/gtfsrt_mbta_20221122.csv.gz");
const rows = text === null ? [] : csvRows(text);

test.skipIf(text === null).each([
  ["y1963", ["03:13:35", "04:04:27", "04:50:06", "05:39:28"]],
  ["y1981", ["01:08:30", "02:02:00", "02:56:39"]],
  ["y2050", ["03:19:53", "04:06:01", "04:56:27"]],
])("OutlierFinder finds the jumps of %s in a tunnel, and none once they are hidden", (device, times) => {
  const positions = rows
    .filter(([id]) => id === device)
    .map(([, timestampMs, latitude, longitude]) => ({
      timestampMs: Number(timestampMs),
      latitude: Number(latitude),
      longitude: Number(longitude),
      accuracy: Number.NaN,
    }));
  const rule = { ...USUAL, speedMax: outliersOf(positions).speedMaxOfDevice };
  const { outliers } = outliersOf(positions, rule);
  expect(outliers.map(({ timestampMs }) => new Date(timestampMs).toISOString().slice(11, 19))).toEqual(times);
  for (const { latitude, longitude } of outliers)
    expect(speedOf(TUNNEL, at(1, latitude, longitude))).toBeLessThan(50); // Meters, in a second.
  const hidden = new Set(outliers.map(({ timestampMs }) => timestampMs));
  const shown = positions.filter(({ timestampMs }) => !hidden.has(timestampMs));
  expect(outliersOf(shown, rule).total).toBe(0);
});
