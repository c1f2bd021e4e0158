import { expect, test } from "bun:test";
import type { CreateContestant } from "../../../bench/support/finding/contestant.ts";
import { createGeokdbushAround } from "../../../bench/support/finding/geokdbush-around.ts";
import { createGrowingCity } from "../../../bench/support/finding/growing-city.ts";
import { createH3Cells } from "../../../bench/support/finding/h3-cells.ts";
import { createLinearScan } from "../../../bench/support/finding/linear-scan.ts";
import { createOurs } from "../../../bench/support/finding/ours.ts";
import {
  cityPositions,
  metropolisPositions,
  NOW_MS,
  type PositionColumns,
  type Positions,
  spherePositions,
  vesselPositions,
} from "../../../bench/support/finding/positions.ts";
import { createQueries } from "../../../bench/support/finding/queries.ts";
import { checkAnswers, race, textOf } from "../../../bench/support/finding/race.ts";
import { createRbushBoxes } from "../../../bench/support/finding/rbush-boxes.ts";
import { applyMoves, createWalk } from "../../../bench/support/finding/walk.ts";
import { createWorstQueries, crowdPositions } from "../../../bench/support/finding/worst.ts";
import { createRandom } from "../../../bench/support/fleets/random.ts";
import { haversineMeters } from "../../../src/model/geo/distance.ts";
import type { CircleQuery } from "../../../src/spatial/positions.ts";
import * as fc from "../../support/fast-check.ts";

const HOUR_MS = 3_600_000;

interface Position {
  readonly latitude: number;
  readonly longitude: number;
  readonly timestampMs: number;
  readonly accuracyMeters: number;
}

/** Evenly spread, where `fc.double` would be tiny most of the time. */
const real = (min: number, max: number) =>
  fc.integer({ min: 0, max: 2 ** 31 }).map((step) => min + (max - min) * (step / 2 ** 31));

/** Crowded at the poles, at ±180° and around one town, and often twice the same. */
const points = fc.oneof(
  fc.record({ latitude: real(-90, 90), longitude: real(-180, 180) }),
  fc.record({
    latitude: fc.oneof(real(89.9, 90), real(-90, -89.9), fc.constantFrom(90, -90)),
    longitude: real(-180, 180),
  }),
  fc.record({
    latitude: real(-1, 1),
    longitude: fc.oneof(real(179.9, 180), real(-180, -179.9), fc.constantFrom(180, -180)),
  }),
  fc.record({ latitude: real(42.2, 42.5), longitude: real(-71.2, -70.9) }),
  fc.constantFrom({ latitude: 42.36, longitude: -71.06 }, { latitude: 0, longitude: 0 }),
);

const positions: fc.Arbitrary<Position> = fc
  .record({
    point: points,
    ageHours: fc.integer({ min: 0, max: 48 }),
    accuracyMeters: fc.constantFrom(5, 20, 100, Number.NaN),
  })
  .map(({ point, ageHours, accuracyMeters }) => ({
    ...point,
    timestampMs: NOW_MS - ageHours * HOUR_MS,
    accuracyMeters,
  }));

const fleets = fc.array(positions, { minLength: 1, maxLength: 120 });

const queries: fc.Arbitrary<CircleQuery> = fc
  .record({
    center: points,
    radiusMeters: fc.oneof(
      real(0, 2000),
      real(0, 100_000),
      real(0, 2.1e7),
      fc.constantFrom(0, 1609.344, 10_007_558, 20_015_115),
    ),
    ageHours: fc.integer({ min: 0, max: 49 }),
    accuracyMetersMax: fc.constantFrom(5, 20, Number.POSITIVE_INFINITY),
    offset: fc.constantFrom(0, 0, 1, 7, 200),
    limit: fc.constantFrom(1, 3, 100),
  })
  .map(({ center, ageHours, ...rest }) => ({ ...center, ...rest, oldestMs: NOW_MS - ageHours * HOUR_MS }));

/** A query whose circle ends exactly at one of the devices. */
const edgeQueries = fc
  .tuple(fleets, queries, fc.nat())
  .map(([fleet, query, which]): [readonly Position[], CircleQuery] => {
    const { latitude, longitude } = fleet[which % fleet.length]!;
    const radiusMeters = haversineMeters(query.latitude, query.longitude, latitude, longitude);
    return [fleet, { ...query, radiusMeters }];
  });

function columnsOf(fleet: readonly Position[]): PositionColumns {
  const column = (name: keyof Position) => Float64Array.from(fleet, (position) => position[name]);
  return {
    latitude: column("latitude"),
    longitude: column("longitude"),
    timestampMs: column("timestampMs"),
    accuracyMeters: column("accuracyMeters"),
  };
}

const OTHERS: readonly CreateContestant[] = [
  createOurs,
  createGeokdbushAround,
  createRbushBoxes,
  createH3Cells,
];

for (const create of OTHERS) {
  test(`${create.name}() answers as the linear scan does, at the poles, at ±180° and over half the earth`, () => {
    const cases = fc.oneof(fc.tuple(fleets, queries), edgeQueries);
    fc.assert(
      fc.property(cases, ([fleet, query]) => {
        const columns = columnsOf(fleet);
        expect(textOf(create(columns).find(query))).toBe(textOf(createLinearScan(columns).find(query)));
      }),
      { numRuns: 300 },
    );
  });
}

test("set() moves a device in all that can be updated", () => {
  const moves = fc.array(fc.tuple(fc.nat(), positions), { maxLength: 60 });
  fc.assert(
    fc.property(fleets, moves, fc.array(queries, { minLength: 1, maxLength: 3 }), (fleet, moves, queries) => {
      const columns = columnsOf(fleet);
      const contestants = [createLinearScan, createOurs, createRbushBoxes, createH3Cells].map((create) =>
        create(columns),
      );
      for (const [which, { latitude, longitude, timestampMs, accuracyMeters }] of moves)
        for (const { set } of contestants)
          set!(which % fleet.length, latitude, longitude, timestampMs, accuracyMeters);
      checkAnswers(contestants, queries);
    }),
    { numRuns: 200 },
  );
});

test("checkAnswers() names the contestant that leaves out a device", () => {
  const whole = metropolisPositions(300, 1);
  const [query] = createQueries(
    [{ latitude: 42.36, longitude: -71.06 }],
    DAY_AROUND,
    () => NOW_MS,
    createRandom(1),
  );
  const scan = createLinearScan(whole);
  const forgetful = { ...scan, name: "forgetful", find: () => scan.find({ ...query!, limit: 3 }) };
  expect(() => checkAnswers([scan, { ...scan, name: "alike" }, forgetful], [query!])).toThrow(
    "forgetful answers",
  );
});

test("race() gives every contestant a turn in every round, and another one the first", () => {
  const turns: string[] = [];
  const contestants = ["a", "b", "c"].map((name) => ({ name, find: () => NOTHING }));
  const figures = race("walk", "µs", contestants, 3, ({ name }, round) => turns.push(`${name}${round}`));
  expect(turns).toEqual(["a0", "b0", "c0", "b1", "c1", "a1", "c2", "a2", "b2"]);
  expect(figures.get("b")).toEqual({ name: "walk: b", unit: "µs", runs: [2, 4, 9] });
});

test("a fleet is the same for the same seed, on the earth, and asked from points that differ", () => {
  const make: readonly (() => Positions | null)[] = [
    () => metropolisPositions(200, 3),
    () => cityPositions(200, 3),
    () => vesselPositions(200, 3),
    () => spherePositions(200, 3),
  ];
  for (const create of make) {
    const fleet = create();
    if (fleet === null) continue; // Said by the reader of reference data.
    expect(fleet.latitude).toHaveLength(200);
    expect(create()!.longitude).toEqual(fleet.longitude);
    expect(create()!.timestampMs).toEqual(fleet.timestampMs);
    expect(fleet.timestampMs.every((timestampMs) => timestampMs <= NOW_MS)).toBe(true);
    const centers = fleet.centers(500);
    expect(new Set(centers.map(({ latitude, longitude }) => `${latitude},${longitude}`)).size).toBe(500);
    for (const { latitude, longitude } of centers) {
      expect(Math.abs(latitude)).toBeLessThanOrEqual(90);
      expect(Math.abs(longitude)).toBeLessThanOrEqual(180);
    }
  }
});

test("createWalk() keeps the share of positions of the last day", () => {
  const fleet = metropolisPositions(5000, 4);
  const scan = createLinearScan(fleet);
  const walk = createWalk(fleet, 4);
  const ofLastDay = () => {
    const [query] = createQueries(
      [{ latitude: 42.36, longitude: -71.06 }],
      DAY_AROUND,
      () => walk.nowMs,
      createRandom(1),
    );
    return scan.find(query!).matches / 5000;
  };
  expect(ofLastDay()).toBeCloseTo(1 / 7, 1);
  const moves = walk.next(20_000);
  applyMoves(scan.set!, moves, 0, 20_000);
  expect(ofLastDay()).toBeCloseTo(1 / 7, 1);
  expect(moves.timestampMs.at(-1)).toBe(Math.floor(walk.nowMs));
});

test("createGrowingCity() keeps the matches as it grows, denser or wider", () => {
  for (const growth of ["denser", "wider"] as const) {
    for (const devices of [10_000, 40_000]) {
      const city = createGrowingCity({ devices, growth, matches: 100, centers: 200, seed: 5 });
      const kind = { miles: city.radiusMiles, limit: 1, age: "24 h" } as const;
      const scan = createLinearScan(city.positions);
      const asked = createQueries(city.centers, kind, () => NOW_MS, createRandom(1));
      const mean = asked.reduce((sum, query) => sum + scan.find(query).matches, 0) / asked.length;
      expect(mean).toBeGreaterThan(85);
      expect(mean).toBeLessThan(115);
    }
  }
});

const DAY_AROUND = { miles: 200, limit: 100, age: "24 h" } as const;
const NOTHING = { count: 0, devices: [], meters: [], matches: 0 };

test("createWorstQueries() asks for pages anywhere among those who match, of any age and accuracy", () => {
  const crowd = crowdPositions(500, 3);
  expect(new Set([...crowd.latitude, ...crowd.longitude]).size).toBe(2);
  const [ours, scan] = [createOurs(crowd), createLinearScan(crowd)];
  const queries = createWorstQueries(ours, crowd.centers(40), "random accuracy", 4);
  checkAnswers([scan, ours], queries);
  for (const query of queries) expect(query.offset).toBeLessThanOrEqual(scan.find(query).matches);
  for (const key of ["oldestMs", "accuracyMetersMax", "offset", "limit", "radiusMeters"] as const)
    expect(new Set(queries.map((query) => query[key])).size).toBeGreaterThan(2);
  const [anyAccuracy] = createWorstQueries(ours, crowd.centers(1), "any accuracy", 4);
  expect(anyAccuracy!.accuracyMetersMax).toBe(Number.POSITIVE_INFINITY);
});
