import { expect, spyOn, test } from "bun:test";
import { haversineMeters, initialBearingDegrees } from "../../../src/model/geo/distance.ts";
import { LeafRows } from "../../../src/spatial/leaf-rows.ts";
import { PositionIndex } from "../../../src/spatial/position-index.ts";
import type { CirclePage, CircleQuery } from "../../../src/spatial/positions.ts";
import { PositionSearch } from "../../../src/spatial/search.ts";
import * as fc from "../../support/fast-check.ts";
import { listedOrder, numberOrder } from "../../support/number-order.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { crowdedPlace, real } from "../../support/reports/crowded-places.ts";
import { loadPositions, type Position } from "../../support/reports/load-positions.ts";
import { seededRandom } from "../../support/seeded-random.ts";

/*
 * Goal: the index answers as a scan of all positions does: devices, distances, order, totals, at any offset.
 * Method: random sequences of moves and removals with searches in between, over fleets that crowd one place, the poles,
 * ±180° and each other.
 */

const DEVICES = 700;
const CROWD = 8000; // Many leaves, some of one place.
const TIMES = 50; // So few that many positions are of one time, and at the cutoff.
const ACCURACIES = 20;
const MILE = 1609.344;
const ANTIPODE_METERS = 20_015_000;

const moves = fc.record({
  device: fc.nat(DEVICES),
  place: crowdedPlace,
  timestampMs: fc.nat(TIMES),
  accuracyMeters: fc.oneof(fc.constant(Number.NaN), fc.nat(ACCURACIES)),
});
const searches = fc.record({
  place: crowdedPlace,
  radiusMeters: fc.oneof(fc.constantFrom(0, MILE, 5 * MILE, 50 * MILE), real(0, 50 * MILE)),
  oldestMs: fc.nat(TIMES),
  accuracyMetersMax: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(ACCURACIES)),
  offset: fc.oneof(fc.constant(0), fc.nat(400)),
  limit: fc.integer({ min: 1, max: 100 }),
});
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: moves.map((move) => ({ kind: "move", move }) as const) },
    { weight: 1, arbitrary: fc.nat(DEVICES).map((device) => ({ kind: "remove", device }) as const) },
    { weight: 2, arbitrary: searches.map((search) => ({ kind: "search", search }) as const) },
  ),
  { minLength: 1, maxLength: 2000, size: "max" },
);

/** The obvious search. */
function scan(positions: Iterable<Position>, circle: CircleQuery) {
  const matching = [...positions]
    .map((position) => ({
      ...position,
      meters: haversineMeters(circle.latitude, circle.longitude, position.latitude, position.longitude),
    }))
    .filter(
      ({ meters, timestampMs, accuracyMeters }) =>
        meters <= circle.radiusMeters &&
        timestampMs >= circle.oldestMs &&
        !(accuracyMeters > circle.accuracyMetersMax),
    )
    .sort((a, b) => a.meters - b.meters || a.device - b.device);
  const page = matching.slice(circle.offset, circle.offset + circle.limit);
  return {
    matches: matching.length,
    devices: page.map(({ device }) => device),
    meters: page.map(({ meters }) => meters),
    bearings: page.map(({ latitude, longitude }) =>
      initialBearingDegrees(circle.latitude, circle.longitude, latitude, longitude),
    ),
  };
}

/** Unit vectors and chords tell distances and bearings otherwise than haversines do, but not by more. */
const METERS_OFF_MAX = 1e-6;
const DEGREES_OFF_MAX = 1e-5;

function expectSame(found: CirclePage, expected: ReturnType<typeof scan>): void {
  const { count, matches } = found;
  expect({ matches, devices: [...found.devices.subarray(0, count)] }).toEqual({
    matches: expected.matches,
    devices: expected.devices,
  });
  for (let row = 0; row < count; row++) {
    const meters = expected.meters[row]!;
    // Near the antipode a haversine itself is off by centimeters, and a bearing may be any.
    if (meters > ANTIPODE_METERS) continue;
    expect(Math.abs(found.meters[row]! - meters)).toBeLessThan(METERS_OFF_MAX);
    const bearing = found.bearings[row]!;
    expect(bearing).toBeWithin(0, 360);
    const turn = Math.abs(bearing - expected.bearings[row]!);
    expect(Math.min(turn, 360 - turn)).toBeLessThan(DEGREES_OFF_MAX);
  }
}

test("find() answers as a scan does, whatever moved and went in between", () => {
  let matches = 0;
  let deepRows = 0;
  fc.assert(
    fc.property(fc.array(moves, { maxLength: 100 }), steps, (loaded, sequence) => {
      const index = new PositionIndex(new PositionSearch(), numberOrder(CROWD));
      const positions = new Map(
        loaded.map(({ place, ...rest }): [number, Position] => [rest.device, { ...place, ...rest }]),
      );
      loadPositions(index, [...positions.values()]);
      for (const step of sequence) {
        if (step.kind === "move") {
          const { device, place, timestampMs, accuracyMeters } = step.move;
          index.set(device, place.latitude, place.longitude, timestampMs, accuracyMeters);
          positions.set(device, { device, ...place, timestampMs, accuracyMeters });
        } else if (step.kind === "remove") {
          if (positions.delete(step.device)) index.remove(step.device);
        } else {
          const { place, ...rest } = step.search;
          const circle = { ...place, ...rest };
          const found = index.find(circle);
          expectSame(found, scan(positions.values(), circle));
          expect(found.candidates).toBeGreaterThanOrEqual(found.matches);
          matches += found.matches;
          if (circle.offset > 0) deepRows += found.count;
        }
      }
    }),
    { numRuns: 100 },
  );
  expect(matches).toBeGreaterThan(randomRuns(10_000)); // Else the fleets lie apart from the searches.
  expect(deepRows).toBeGreaterThan(randomRuns(500));
});

test.each([
  ["one by one", 0],
  ["most of it at once", CROWD - 1000],
])("find() answers as a scan does, while a fleet of many leaves comes, %s, moves and goes", (_, loaded) => {
  const random = seededRandom(11);
  const index = new PositionIndex(new PositionSearch(), numberOrder(CROWD));
  const positions = new Map<number, Position>();
  let timestampMs = 0;
  const place = () => {
    // A tenth each at two places; the rest around them, the closer the more.
    const kind = random();
    if (kind < 0.2) return { latitude: 42.35, longitude: kind < 0.1 ? -71.05 : -71.04 };
    const spread = random() ** 3;
    return { latitude: 42.35 + (random() - 0.5) * spread, longitude: -71.05 + (random() - 0.5) * spread };
  };
  const create = (device: number): Position => {
    timestampMs += Math.floor(random() * 3);
    const late = random() < 0.1 ? Math.floor(random() * timestampMs) : timestampMs;
    const accuracyMeters = random() < 0.1 ? Number.NaN : Math.floor(random() * ACCURACIES);
    const position = { device, ...place(), timestampMs: late, accuracyMeters };
    positions.set(device, position);
    return position;
  };
  const set = (device: number) => {
    const { latitude, longitude, timestampMs, accuracyMeters } = create(device);
    index.set(device, latitude, longitude, timestampMs, accuracyMeters);
  };
  const search = () => {
    const circle = {
      ...place(),
      radiusMeters: random() < 0.5 ? 50 * MILE : random() ** 2 * 30 * MILE,
      oldestMs: random() < 0.3 ? 0 : random() * timestampMs,
      accuracyMetersMax: random() < 0.5 ? Number.POSITIVE_INFINITY : Math.floor(random() * ACCURACIES),
      offset: random() < 0.5 ? 0 : Math.floor(random() * positions.size),
      limit: random() < 0.5 ? 100 : 1000,
    };
    expectSame(index.find(circle), scan(positions.values(), circle));
  };

  // Every other number is nobody's yet.
  loadPositions(
    index,
    Array.from({ length: loaded / 2 }, (_, half) => create(2 * half)),
  );
  for (let device = 0; device < CROWD; device++) {
    if (!positions.has(device)) set(device);
    if (device % 200 === 0) search();
  }
  for (let move = 0; move < CROWD; move++) {
    set(Math.floor(random() * CROWD));
    if (move % 150 === 0) search();
  }
  for (let device = 0; device < CROWD; device++) {
    index.remove(device);
    positions.delete(device);
    if (device % 100 === 0) search();
  }
  set(1); // Into an index that is empty again.
  search();
});

test.each([
  ["thousands of one place", 3000, 1],
  ["so many of one place that they are not sorted", 30_000, 1],
  ["so many that counting does not narrow them down, of two places", 300_000, 2],
])("find() pages through %s, nearest first and then in order of devices", (_, count, places) => {
  let compared = 0;
  const descending = Array.from({ length: count }, (_, rank) => count - 1 - rank);
  const order = listedOrder(descending, (a, b) => {
    compared++;
    return b - a;
  });
  const index = new PositionIndex(new PositionSearch(), order);
  const placeOf = (device: number) => device % places;
  for (let device = 0; device < count; device++)
    index.set(device, 42.35 - placeOf(device) * 1e-3, -71.05, device, device % 3);
  for (const [oldestMs, accuracyMetersMax] of [
    [0, 1],
    [count / 5, Number.POSITIVE_INFINITY],
  ] as const) {
    const expected = Array.from({ length: count }, (_, row) => count - 1 - row)
      .filter((device) => device >= oldestMs && device % 3 <= accuracyMetersMax)
      .sort((a, b) => placeOf(a) - placeOf(b) || b - a);
    for (const offset of [0, 1000, Math.floor(count / 3), expected.length - 500, expected.length]) {
      const found = index.find({
        latitude: 42.36,
        longitude: -71.05,
        radiusMeters: MILE,
        oldestMs,
        accuracyMetersMax,
        offset,
        limit: 1000,
      });
      expect(found.matches).toBe(expected.length);
      expect([...found.devices.subarray(0, found.count)]).toEqual(expected.slice(offset, offset + 1000));
    }
  }
  expect(compared).toBeLessThan(400_000); // To sort 30,000 for each page takes a million.
});

/** Points that can be written in several ways: poles under any longitude, and ±180°; and their neighbours. */
const manyNamed = fc.record({
  latitude: fc.constantFrom(90, -90, 0, 65.7, 89.99999999999999, -89.99999999999999),
  longitude: fc.oneof(fc.constantFrom(180, -180, 0, -0, 179.99999999999997), real(-180, 180)),
});
const pointOf = ({ latitude, longitude }: { latitude: number; longitude: number }) =>
  `${latitude} ${Math.abs(latitude) === 90 ? "any" : longitude === -180 ? 180 : longitude}`;

test("find() meets a point under all of its names, within no distance and within hardly any", () => {
  let renamed = 0;
  fc.assert(
    fc.property(
      fc.array(manyNamed, { minLength: 1, maxLength: 60 }),
      manyNamed,
      fc.oneof(fc.constant(0), fc.constantFrom(1e-15, 1e-12, 1e-9, 1e-6, 1e-3)),
      (places, center, radiusMeters) => {
        const index = new PositionIndex(new PositionSearch(), numberOrder(places.length));
        places.forEach((place, device) => {
          index.set(device, place.latitude, place.longitude, 0, Number.NaN);
        });
        const accuracyMetersMax = Number.POSITIVE_INFINITY;
        const circle = { ...center, radiusMeters, oldestMs: 0, accuracyMetersMax, offset: 0, limit: 100 };
        const found = index.find(circle);
        const positions = places.map((place, device) => {
          return { device, ...place, timestampMs: 0, accuracyMeters: Number.NaN };
        });
        expectSame(found, scan(positions, circle));
        const isFound = new Set(found.devices.subarray(0, found.count));
        places.forEach((place, device) => {
          if (pointOf(place) !== pointOf(center)) return;
          expect(isFound.has(device)).toBe(true);
          if (place.longitude !== center.longitude) renamed++;
        });
      },
    ),
    { numRuns: 500 },
  );
  expect(renamed).toBeGreaterThan(randomRuns(50));
});

test.each([
  ["within its cell", 42.35],
  ["into it", 42.36],
])("find() tells counts again after a move %s to a time next to the cutoff", (_, fromLatitude) => {
  const index = new PositionIndex(new PositionSearch(), numberOrder(CROWD));
  for (let device = 0; device < 700; device++)
    index.set(device, 42.35 + (device % 2) * 1e-2, -71.05, 10 * device, Number.NaN);
  const mover = fromLatitude === 42.35 ? 0 : 1;
  const matchesFrom = (oldestMs: number) =>
    index.find({
      latitude: 42.35,
      longitude: -71.05,
      radiusMeters: 100,
      oldestMs,
      accuracyMetersMax: Number.POSITIVE_INFINITY,
      offset: 0,
      limit: 1,
    }).matches;
  expect(matchesFrom(5010)).toBe(99); // Devices 502, 504 … 698.
  index.set(mover, 42.35, -71.05, 5015, Number.NaN);
  expect([5012, 5015, 5016].map(matchesFrom)).toEqual([100, 100, 99]);
});

test("find() tells counts again after positions age, without a move", () => {
  const index = new PositionIndex(new PositionSearch(), numberOrder(CROWD));
  for (let device = 0; device < 1000; device++)
    index.set(device, 42.35 + (device % 40) * 1e-4, -71.05 + device * 1e-5, device, Number.NaN);
  const matchesFrom = (oldestMs: number) =>
    index.find({
      latitude: 42.35,
      longitude: -71.05,
      radiusMeters: 50 * MILE,
      oldestMs,
      accuracyMetersMax: Number.POSITIVE_INFINITY,
      offset: 0,
      limit: 1,
    }).matches;
  for (const oldestMs of [0, 1, 500, 501, 500, 999, 1000, 0])
    expect(matchesFrom(oldestMs)).toBe(1000 - oldestMs);
});

test("load() leaves behind the leaves that positions which come one by one do", () => {
  const random = seededRandom(12);
  const positions = Array.from({ length: CROWD }, (_, device): Position => {
    const at = device % 4 === 0 ? 0.5 : random(); // A quarter is at one point.
    const place = { latitude: 42 + at, longitude: -71 + at * (device % 3) };
    return { device, ...place, timestampMs: Math.floor(random() * TIMES), accuracyMeters: Number.NaN };
  });
  const loaded = new PositionIndex(new PositionSearch(), numberOrder(CROWD));
  loadPositions(loaded, positions);
  const oneByOne = new PositionIndex(new PositionSearch(), numberOrder(CROWD));
  for (const { device, latitude, longitude, timestampMs, accuracyMeters } of positions)
    oneByOne.set(device, latitude, longitude, timestampMs, accuracyMeters);
  const around = { minLatitude: 42.2, maxLatitude: 42.4, minLongitude: -71, maxLongitude: -70.8 };
  const near = [loaded, oneByOne].map((index) => index.near([around], CROWD)!.toSorted());
  expect(near[0]).toEqual(near[1]!);
  expect(near[0]!.length).toBeWithin(100, CROWD / 2);
});

test("a leaf whose rows are at one point is split at once, however many cells hold all of them", () => {
  const inserted = spyOn(LeafRows.prototype, "insertRow");
  try {
    const index = new PositionIndex(new PositionSearch(), numberOrder(CROWD));
    let insertedMax = 0;
    for (let device = 0; device < CROWD; device++) {
      inserted.mockClear();
      index.set(device, 42.35, -71.05, device % TIMES, Number.NaN);
      insertedMax = Math.max(insertedMax, inserted.mock.calls.length);
    }
    expect(insertedMax).toBe(512 + 1); // What a leaf holds, and the one that comes.
  } finally {
    inserted.mockRestore();
  }
});
