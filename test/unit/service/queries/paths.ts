import fc from "fast-check";
import { EARTH_RADIUS_METERS } from "../../../../src/model/geo/distance.ts";
import { inDirectionOf, latitudeOf, longitudeOf, unitVector } from "../../../../src/model/geo/unit-vector.ts";
import { StopFinder, type Stops, type StopsQuery } from "../../../../src/service/queries/stops.ts";

/* Paths made for tests of stops, in meters around some place on earth. */

export interface Position {
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
}

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

export const LIVERPOOL: Place = { latitude: 53.4076, longitude: -2.9822 };

const PLACES: readonly Place[] = [
  LIVERPOOL,
  { latitude: 0, longitude: 0 },
  { latitude: -17.7, longitude: 180 },
  { latitude: 65, longitude: -179.9999 },
  { latitude: 90, longitude: 0 },
  { latitude: -89.9998, longitude: 33 },
];

/** So many meters east and north of a place, on the plane that touches the earth there: good at poles as anywhere. */
export function offset({ latitude, longitude }: Place, east: number, north: number): Place {
  const up = unitVector(latitude, longitude);
  const toEast = unitVector(0, longitude + 90);
  const toNorth = unitVector(latitude + 90, longitude);
  const [e, n] = [east / EARTH_RADIUS_METERS, north / EARTH_RADIUS_METERS];
  const at = inDirectionOf(
    up.x + e * toEast.x + n * toNorth.x,
    up.y + e * toEast.y + n * toNorth.y,
    up.z + e * toEast.z + n * toNorth.z,
  );
  return { latitude: latitudeOf(at), longitude: longitudeOf(at) };
}

/** Seconds from the start, meters east and meters north of it. */
export type Leg = readonly [seconds: number, east: number, north: number];

export function path(legs: readonly Leg[], place = LIVERPOOL): Position[] {
  return legs.map(([seconds, east, north]) => ({
    timestampMs: 1_000_000_000_000 + seconds * 1000,
    ...offset(place, east, north),
  }));
}

/** What is found where the positions come in blocks of these sizes, and then in one. */
export function findStops(
  positions: readonly Position[],
  query: StopsQuery,
  sizes: readonly number[] = [],
): Stops {
  const finder = new StopFinder(query);
  let from = 0;
  for (const size of [...sizes, positions.length]) {
    const block = positions.slice(from, from + size);
    from += size;
    finder.add({
      count: block.length,
      timestampMs: Float64Array.from(block, ({ timestampMs }) => timestampMs),
      latitude: Float64Array.from(block, ({ latitude }) => latitude),
      longitude: Float64Array.from(block, ({ longitude }) => longitude),
      numbers: [],
    });
    finishSteps(finder.work());
  }
  return finishSteps(finder.end());
}

function finishSteps<Value>(steps: Generator<void, Value, void>): Value {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

const meters = (max: number) => fc.integer({ min: -max, max });

/** A stretch of a path: stands and jitters, goes along, strays and comes back, is silent, or turns up elsewhere. */
const stretches = fc.record({
  positions: fc.integer({ min: 1, max: 12 }),
  everySeconds: fc.constantFrom(1, 7, 20, 45, 90, 240, 700),
  east: fc.oneof(fc.constant(0), meters(30), meters(90), meters(3000)),
  north: fc.oneof(fc.constant(0), meters(30), meters(300)),
  jitter: fc.constantFrom(0, 4, 40, 120),
  seed: fc.nat(),
});

/** Paths of up to some hundred positions at hard places of the earth. */
export const paths = fc
  .record({ place: fc.constantFrom(...PLACES), all: fc.array(stretches, { minLength: 1, maxLength: 9 }) })
  .map(({ place, all }) => {
    const legs: Leg[] = [];
    let [seconds, east, north] = [0, 0, 0];
    for (const stretch of all) {
      for (let i = 0; i < stretch.positions; i++) {
        seconds += stretch.everySeconds;
        east += stretch.east / stretch.positions;
        north += stretch.north / stretch.positions;
        const turn = (stretch.seed + i) * 2.4;
        legs.push([
          seconds,
          east + stretch.jitter * Math.sin(turn),
          north + stretch.jitter * Math.cos(turn * 1.7),
        ]);
      }
    }
    return path(legs, place);
  });

export const queries = fc.record({
  durationMsMin: fc.constantFrom(60_000, 150_000, 300_000, 900_000),
  radiusMeters: fc.constantFrom(15, 50, 100, 400),
});
