import { expect, test } from "bun:test";
import { haversineMeters } from "../../../../src/model/geo/distance.ts";
import { unitVector } from "../../../../src/model/geo/unit-vector.ts";
import { CENTERED_POSITIONS_MAX } from "../../../../src/service/queries/stay.ts";
import { Odometer } from "../../../../src/service/queries/stops.ts";
import * as fc from "../../../support/fast-check.ts";
import { obviousStops } from "./obvious-stops.ts";
import { findStops, type Leg, LIVERPOOL, offset, path, paths, queries } from "./paths.ts";

const QUERY = { durationMsMin: 300_000, radiusMeters: 100 };
const START_MS = 1_000_000_000_000;

/** A position every so many seconds at the same place. */
function standing(from: number, to: number, every: number, east = 0): Leg[] {
  const legs: Leg[] = [];
  for (let seconds = from; seconds <= to; seconds += every) legs.push([seconds, east, 0]);
  return legs;
}

/** Seconds from the start at which stops begin and end. */
function timesOf(legs: readonly Leg[], query = QUERY): number[][] {
  const { stops } = findStops(path(legs), query);
  return stops.map(({ start, end }) => [(start - START_MS) / 1000, (end - START_MS) / 1000]);
}

test("a device that stands stopped once, from its first to its last position", () => {
  const { stops, distanceMeters, movingMs } = findStops(path(standing(0, 86_400, 30)), QUERY);
  const [stop] = stops;
  expect(stops).toHaveLength(1);
  expect(stop).toEqual({ start: START_MS, end: START_MS + 86_400_000, ...LIVERPOOL, positions: 2881 });
  expect(distanceMeters).toBe(0);
  expect(movingMs).toBe(0);
});

test("a stop lasts as long as it must, and not a second less", () => {
  expect(timesOf([...standing(0, 300, 30), [330, 900, 0], [360, 1800, 0], [390, 2700, 0]])).toEqual([
    [0, 300],
  ]);
  expect(timesOf([...standing(1, 300, 13), [330, 900, 0], [360, 1800, 0], [390, 2700, 0]])).toEqual([]);
});

test("a silence where it stands is part of the stop, however long", () => {
  expect(timesOf([...standing(0, 60, 30), ...standing(30_000, 30_060, 30, 60)])).toEqual([[0, 30_060]]);
});

test("a stop ends with the last position before a silence after which the device is elsewhere", () => {
  const { stops, distanceMeters, movingMs } = findStops(
    path([...standing(0, 600, 60), ...standing(9000, 9600, 60, 5000)]),
    QUERY,
  );
  expect(stops.map(({ start, end }) => [start - START_MS, end - START_MS])).toEqual([
    [0, 600_000],
    [9_000_000, 9_600_000],
  ]);
  expect(distanceMeters).toBeCloseTo(5000, 2);
  expect(movingMs).toBe(0);
});

test("a stray fix or two are part of a stop, and neither of its positions nor of the path", () => {
  const strays: Leg[] = [
    [190, 800, 0],
    [200, 0, 900],
  ];
  const { stops, distanceMeters } = findStops(
    path([...standing(0, 180, 30), ...strays, ...standing(210, 600, 30)]),
    QUERY,
  );
  expect(stops).toEqual([{ start: START_MS, end: START_MS + 600_000, ...LIVERPOOL, positions: 21 }]);
  expect(distanceMeters).toBe(0);
});

test("three fixes elsewhere are a way there, unless the device is back within a minute", () => {
  const away: Leg[] = [
    [340, 800, 0],
    [370, 800, 0],
    [400, 800, 0],
  ];
  expect(timesOf([...standing(0, 330, 30), ...away, ...standing(430, 760, 30)])).toEqual([
    [0, 330],
    [430, 760],
  ]);
  const drift: Leg[] = Array.from({ length: 50 }, (_, i) => [340 + i, 150, 0]);
  expect(timesOf([...standing(0, 330, 30), ...drift, ...standing(390, 760, 30)])).toEqual([[0, 750]]);
  const crowd: Leg[] = Array.from({ length: 65 }, (_, i) => [340 + i / 2, 150, 0]);
  expect(timesOf([...standing(0, 330, 30), ...crowd, ...standing(390, 760, 30)])).toHaveLength(2);
});

test("two fixes elsewhere are a way there where they take more than twice the least duration", () => {
  expect(timesOf([...standing(0, 330, 30), [600, 800, 0], ...standing(930, 1300, 30)])).toEqual([[0, 1290]]);
  expect(timesOf([...standing(0, 330, 30), [600, 800, 0], ...standing(931, 1300, 30)])).toEqual([
    [0, 330],
    [931, 1291],
  ]);
});

test("a place that is passed three times isn't a stop there", () => {
  // Round a block, heard every two minutes: twice elsewhere for each time at the same corner.
  const corners: Leg[] = [
    [0, 0, 0],
    [120, 400, 0],
    [240, 400, 400],
    [360, 0, 0],
    [480, 400, 0],
    [600, 400, 400],
    [720, 0, 0],
  ];
  expect(timesOf(corners)).toEqual([]);
});

test("strays on the way to a place don't count against the stop there", () => {
  const way: Leg[] = [
    [0, 0, 0],
    [250, 900, 0],
    [500, 99, 0],
  ];
  expect(timesOf([...way, ...standing(510, 900, 10, 140)])).toEqual([[500, 900]]);
});

test("the way to a place is no part of the stop further out than the radius", () => {
  const walk: Leg[] = Array.from({ length: 180 }, (_, i) => [i, i - 180, 0]);
  const [stop] = findStops(path([...walk, ...standing(180, 1800, 1)]), QUERY).stops;
  expect((stop!.start - START_MS) / 1000).toBeGreaterThanOrEqual(75);
  expect((stop!.start - START_MS) / 1000).toBeLessThan(82);
  expect(Math.abs(stop!.longitude - LIVERPOOL.longitude)).toBeLessThan(0.00005);
});

test("two halts that are further apart than the radius aren't one stop around their middle", () => {
  expect(
    timesOf([...standing(0, 160, 32), ...standing(192, 352, 32, 142), [380, 400, 0], [410, 700, 0]]),
  ).toEqual([]);
});

test("a device that creeps can't pull its stop along for ever", () => {
  // Always 99 m ahead of the middle of where it was.
  const legs: Leg[] = [[0, 0, 0]];
  for (let i = 1, sum = 0; i < 3 * CENTERED_POSITIONS_MAX; i++) {
    const east = Math.min(sum / i + 99, 90 * Math.log(i + 1) + 50);
    sum += east;
    legs.push([i, east, 0]);
  }
  const positions = path(legs);
  const { stops } = findStops(positions, QUERY);
  expect(stops.length).toBeGreaterThan(0);
  for (const { start, end, latitude, longitude, positions: count } of stops) {
    const within = positions.filter(
      (at) =>
        at.timestampMs >= start &&
        at.timestampMs <= end &&
        haversineMeters(at.latitude, at.longitude, latitude, longitude) <= QUERY.radiusMeters,
    );
    expect(count).toBe(within.length);
  }
});

test("a center is settled by its first positions", () => {
  const half = CENTERED_POSITIONS_MAX / 2;
  const legs = [...standing(0, half - 1, 1), ...standing(half, 6 * half - 1, 1, 60)];
  const [stop] = findStops(path(legs), QUERY).stops;
  expect(stop!.positions).toBe(6 * half);
  const { longitude } = offset(LIVERPOOL, 30, 0);
  expect(stop!.longitude).toBeCloseTo(longitude, 6);
});

test("StopFinder finds what the rule says, word by word", () => {
  fc.assert(
    fc.property(paths, queries, (positions, query) => {
      expect(findStops(positions, query).stops as unknown).toEqual(obviousStops(positions, query));
    }),
    { numRuns: 1000 },
  );
});

test("StopFinder finds the same however positions come in blocks", () => {
  fc.assert(
    fc.property(paths, queries, fc.array(fc.nat({ max: 20 })), (positions, query, sizes) => {
      expect(findStops(positions, query, sizes)).toEqual(findStops(positions, query));
    }),
  );
});

test("every stop lasts, and its positions lie within the radius of its center", () => {
  fc.assert(
    fc.property(paths, queries, (positions, query) => {
      let endMs = Number.NEGATIVE_INFINITY;
      for (const stop of findStops(positions, query).stops) {
        expect(stop.start).toBeGreaterThan(endMs);
        endMs = stop.end;
        expect(stop.end - stop.start).toBeGreaterThanOrEqual(query.durationMsMin);
        const during = positions.filter((at) => at.timestampMs >= stop.start && at.timestampMs <= stop.end);
        const distances = during.map((at) =>
          haversineMeters(at.latitude, at.longitude, stop.latitude, stop.longitude),
        );
        // What is answered is rounded to a centimeter.
        const within = distances.filter((distance) => distance <= query.radiusMeters + 0.02).length;
        expect(within).toBeGreaterThanOrEqual(stop.positions);
      }
    }),
    { numRuns: 300 },
  );
});

function read(positions: readonly { timestampMs: number; latitude: number; longitude: number }[]): Odometer {
  const odometer = new Odometer();
  for (const { timestampMs, latitude, longitude } of positions) {
    odometer.add(timestampMs, unitVector(latitude, longitude));
  }
  return odometer;
}

/** Meters to the millimeter. */
function metersOf(legs: readonly Leg[]): number {
  return Math.round(read(path(legs)).meters * 1000) / 1000;
}

test("Odometer adds up the steps of a path", () => {
  fc.assert(
    fc.property(paths, (positions) => {
      let meters = 0;
      for (const [i, to] of positions.entries()) {
        const from = positions[Math.max(0, i - 1)]!;
        meters += haversineMeters(from.latitude, from.longitude, to.latitude, to.longitude);
      }
      // No leg of these paths is as fast as 400 m/s but from one stretch to the next.
      const slow = positions.map((at, i) => ({ ...at, timestampMs: i * 1_000_000 }));
      expect(read(slow).meters).toBeCloseTo(meters, 3);
    }),
  );
});

test("Odometer leaves out a position that the device can't have come to", () => {
  const drive: Leg[] = [
    [0, 0, 0],
    [10, 100, 0],
    [20, 50_000, 0],
    [30, 300, 0],
  ];
  expect(metersOf(drive)).toBe(300);
});

test("Odometer goes on from where two positions agree, without the jump", () => {
  const moved: Leg[] = [
    [0, 0, 0],
    [10, 50_000, 0],
    [20, 50_100, 0],
    [30, 50_300, 0],
  ];
  expect(metersOf(moved)).toBeCloseTo(300, 1);
});

test("Odometer counts a step of 400 m/s, and none that is faster", () => {
  const steps = (meters: number): Leg[] => [
    [0, 0, 0],
    [1, meters, 0],
  ];
  expect(metersOf(steps(399.9))).toBe(399.9);
  expect(metersOf(steps(400.1))).toBe(0);
});

test("Odometer counts the way over a silence, and not its time", () => {
  const silent = read(
    path([
      [0, 0, 0],
      [600, 1000, 0],
      [1201, 3000, 0],
    ]),
  );
  expect(Math.round(silent.meters)).toBe(3000);
  expect(silent.heardMs).toBe(600_000);
});
