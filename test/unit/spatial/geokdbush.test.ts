import { expect, test } from "bun:test";
import { around } from "geokdbush";
import KDBush from "kdbush";
import { EARTH_RADIUS_METERS, haversineMeters } from "../../../src/model/geo/distance.ts";
import { geohashBox, geohashCell } from "../../../src/model/geo/geohash.ts";
import { PositionIndex } from "../../../src/spatial/position-index.ts";
import { PositionSearch } from "../../../src/spatial/search.ts";
import * as fc from "../../support/fast-check.ts";
import { numberOrder } from "../../support/number-order.ts";
import { crowdedPlace, real } from "../../support/reports/crowded-places.ts";

/*
 * Goal: the index finds whom geokdbush finds, in the same order, through pages of any size.
 * Method: fleets gather around a few hubs, on a grid that puts many at one distance from a hub and on edges of geohash
 * cells; devices come, move, report again, leave and grow too old between searches from the hubs. For each search
 * geokdbush gets the fleet anew: it can't be updated.
 */

const DEVICES = 1000; // Several leaves, where they gather around one hub.
const MILE = 1609.344;
const GEOKDBUSH_RADIUS_KM = 6371;

/** Whoever is so near to a circle's edge may be in or out: the two round differently, and by less than this. */
const EDGE_METERS = 1e-3;

/** Devices whose distances differ by less may come in either order. */
const TIE_METERS = 1e-6;

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** Where four cells of so many bits meet, near a place. */
const cellCorner = fc
  .record({ near: crowdedPlace, bits: fc.integer({ min: 10, max: 46 }) })
  .map(({ near, bits }): Place => {
    const box = geohashBox(geohashCell(near.latitude, near.longitude, bits), bits);
    return { latitude: box.minLatitude, longitude: box.minLongitude };
  });

const hub: fc.Arbitrary<Place> = fc.oneof(
  crowdedPlace,
  cellCorner,
  fc.constantFrom(
    { latitude: 90, longitude: 0 },
    { latitude: -90, longitude: 77 },
    { latitude: 0, longitude: 180 },
    { latitude: 65.7, longitude: -180 },
    { latitude: 89.99, longitude: 179.99 },
    { latitude: 42.35, longitude: -71.05 },
  ),
);
const hubs = fc.array(hub, { minLength: 1, maxLength: 3 });

/** From a hub, in degrees: on a grid, a hair off it, or anywhere around. */
const way = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ north: fc.integer({ min: -4, max: 4 }), east: fc.integer({ min: -4, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ north: real(-1e-9, 1e-9), east: real(-1e-9, 1e-9) }) },
  { weight: 2, arbitrary: fc.record({ north: real(-40, 40), east: real(-40, 40) }) },
);
const GRID_DEGREES = 1 / 128; // A whole number of steps to edges of cells, where the hub lies on one.

const sighting = fc.record({
  device: fc.nat(DEVICES),
  hub: fc.nat(2),
  way,
  accuracyMeters: fc.oneof(fc.constant(Number.NaN), fc.constantFrom(5, 10, 50)),
});
const search = fc.record({
  hub: fc.nat(2),
  radiusMeters: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(0, 0.5, MILE, 5 * MILE, 50 * MILE) },
    { weight: 3, arbitrary: real(0, 50 * MILE) },
    { weight: 1, arbitrary: real(0, 5_000_000) },
  ),
  accuracyMetersMax: fc.constantFrom(Number.POSITIVE_INFINITY, 10),
  limit: fc.integer({ min: 1, max: 200 }),
});

const step = fc.oneof(
  { weight: 20, arbitrary: sighting.map((sighting) => ({ kind: "sighting", sighting }) as const) },
  {
    weight: 4,
    arbitrary: fc
      .record({ device: fc.nat(DEVICES), accuracyMeters: fc.constantFrom(Number.NaN, 5, 50) })
      .map((again) => ({ kind: "again", ...again }) as const),
  },
  { weight: 3, arbitrary: fc.nat(DEVICES).map((device) => ({ kind: "leave", device }) as const) },
  { weight: 1, arbitrary: fc.nat(30).map((byMs) => ({ kind: "age", byMs }) as const) },
  { weight: 1, arbitrary: search.map((search) => ({ kind: "search", search }) as const) },
);
const story = fc.record({
  hubs,
  steps: fc.array(step, { minLength: 1, maxLength: 2500, size: "max" }),
});

interface Position extends Place {
  readonly timestampMs: number;
  readonly accuracyMeters: number;
}

function placeFrom({ latitude, longitude }: Place, { north, east }: { north: number; east: number }): Place {
  const lat = latitude + north * GRID_DEGREES;
  const lon = longitude + east * GRID_DEGREES;
  return {
    latitude: Math.max(-90, Math.min(90, lat)),
    longitude: lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon,
  };
}

interface Search extends Place {
  readonly radiusMeters: number;
  readonly oldestMs: number;
  readonly accuracyMetersMax: number;
}

/** All that match, page after page. */
function findAll(index: PositionIndex, circle: Search, limit: number): number[] {
  const all: number[] = [];
  for (;;) {
    const { count, devices, matches } = index.find({ ...circle, offset: all.length, limit });
    expect(count).toBe(Math.min(limit, matches - all.length));
    all.push(...devices.subarray(0, count));
    if (all.length >= matches) return all;
  }
}

function geokdbushAll(positions: ReadonlyMap<number, Position>, circle: Search): number[] {
  const devices = [...positions.keys()];
  if (devices.length === 0) return []; // Its index takes no fleet of none.
  const tree = new KDBush(devices.length);
  for (const { latitude, longitude } of positions.values()) tree.add(longitude, latitude);
  tree.finish();
  const isKept = (row: number) => {
    const { timestampMs, accuracyMeters } = positions.get(devices[row]!)!;
    return timestampMs >= circle.oldestMs && !(accuracyMeters > circle.accuracyMetersMax);
  };
  const radiusKm = ((circle.radiusMeters + EDGE_METERS) / EARTH_RADIUS_METERS) * GEOKDBUSH_RADIUS_KM;
  const rows = around(tree, circle.longitude, circle.latitude, undefined, radiusKm, isKept);
  return rows.map((row) => devices[row]!);
}

test("find() finds whom geokdbush finds, nearest first, whoever moved, left or grew old before", () => {
  let matches = 0;
  let ties = 0;
  fc.assert(
    fc.property(story, ({ hubs, steps }) => {
      const index = new PositionIndex(new PositionSearch(), numberOrder(DEVICES + 1));
      const positions = new Map<number, Position>();
      let nowMs = 0;
      let oldestMs = 0;
      const put = (device: number, position: Position) => {
        positions.set(device, position);
        const { latitude, longitude, timestampMs, accuracyMeters } = position;
        index.set(device, latitude, longitude, timestampMs, accuracyMeters);
      };
      for (const step of steps) {
        if (step.kind === "sighting") {
          const { device, hub, way, accuracyMeters } = step.sighting;
          put(device, { ...placeFrom(hubs[hub % hubs.length]!, way), timestampMs: nowMs++, accuracyMeters });
        } else if (step.kind === "again") {
          const known = positions.get(step.device);
          if (known !== undefined) put(step.device, { ...known, accuracyMeters: step.accuracyMeters });
        } else if (step.kind === "leave") {
          if (positions.delete(step.device)) index.remove(step.device);
        } else if (step.kind === "age") {
          oldestMs = Math.min(nowMs, oldestMs + step.byMs);
        } else {
          const { hub, limit, radiusMeters, accuracyMetersMax } = step.search;
          const circle = { ...hubs[hub % hubs.length]!, radiusMeters, accuracyMetersMax, oldestMs };
          const found = findAll(index, circle, limit);
          ties += expectAgreement(found, geokdbushAll(positions, circle), circle, positions);
          matches += found.length;
        }
      }
    }),
    { numRuns: 100, interruptAfterTimeLimit: 30_000 }, // So long a story could be shrunk for minutes.
  );
  expect(matches).toBeGreaterThan(20_000); // Else fleets lie apart from the searches.
  expect(ties).toBeGreaterThan(1000);
});

/** Returns how many lie as far from the center as the one before. */
function expectAgreement(
  found: readonly number[],
  theirs: readonly number[],
  { latitude, longitude, radiusMeters }: Search,
  positions: ReadonlyMap<number, Position>,
): number {
  const metersOf = (device: number) => {
    const place = positions.get(device)!;
    return haversineMeters(latitude, longitude, place.latitude, place.longitude);
  };
  const within = (devices: readonly number[]) =>
    devices.filter((device) => metersOf(device) <= radiusMeters - EDGE_METERS).sort((a, b) => a - b);
  expect(within(found)).toEqual(within(theirs));
  // They were asked for a circle that is larger by the edge, so they have all of ours.
  expect(found.filter((device) => !theirs.includes(device))).toEqual([]);

  let ties = 0;
  let before = -1;
  found.forEach((device, row) => {
    const meters = metersOf(device);
    const other = theirs[row]!;
    if (other !== device) expect(Math.abs(meters - metersOf(other))).toBeLessThan(TIE_METERS);
    if (row > 0 && meters === before) {
      ties++;
      expect(device).toBeGreaterThan(found[row - 1]!);
    }
    before = meters;
  });
  return ties;
}
