import { expect, test } from "bun:test";
import { type Bounds, boundsOf } from "../../../../src/web/geo/bounds.ts";
import { DENSE_COUNT_MIN, DENSE_SHARE, denseBoundsOf } from "../../../../src/web/geo/dense-bounds.ts";
import { WORLD_SIZE, worldX, worldY } from "../../../../src/web/geo/world.ts";
import * as fc from "../../../support/fast-check.ts";

type Place = readonly [latitude: number, longitude: number];

/** Places in crowds, one of which lies across ±180°, and some anywhere. */
const places = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: around(55, 11) },
    { weight: 1, arbitrary: around(54, 14) },
    { weight: 2, arbitrary: around(-17, 179.9) },
    { weight: 1, arbitrary: fc.tuple(degrees(-84, 84), degrees(-180, 179.99)) },
  ),
  { minLength: DENSE_COUNT_MIN, maxLength: 40 },
);

function around(latitude: number, longitude: number) {
  return fc
    .tuple(degrees(latitude - 0.5, latitude + 0.5), fc.double({ min: -0.5, max: 0.5, noNaN: true }))
    .map(([at, east]): Place => [at, ((longitude + east + 540) % 360) - 180]);
}

function degrees(min: number, max: number) {
  return fc.double({ min, max, noNaN: true });
}

test("denseBoundsOf() holds 95% of the places, in a box little larger than the smallest one", () => {
  fc.assert(
    fc.property(places, (each) => {
      const bounds = denseOf(each);
      const countMin = Math.ceil(DENSE_SHARE * each.length);
      expect(each.filter((place) => holds(bounds, place)).length).toBeGreaterThanOrEqual(countMin);
      const least = leastSide(each, countMin);
      const side = sideOf(bounds);
      const all = sideOf(allOf(each));
      // Cells add an eighth at most; all places are shown if that costs less than a half.
      expect(side <= least * 1.13 + 200 || (side === all && all <= 1.5 * least * 1.13 + 300)).toBe(true);
    }),
  );
});

test("denseBoundsOf() leaves out a ship off Yemen and one off Greenland", () => {
  const ships = Array.from({ length: 60 }, (_, ship): Place => [54 + (ship % 8) / 4, 9 + (ship % 13) / 4]);
  expect(denseOf([...ships, [12, 48], [65, -40]])).toEqual({ west: 9, south: 54, east: 12, north: 55.75 });
});

test("denseBoundsOf() shows two fleets of half the devices each, and all of a few devices", () => {
  const fleet = (latitude: number, longitude: number) =>
    Array.from({ length: 50 }, (_, van): Place => [latitude, longitude + van / 1000]);
  const both = [...fleet(51.5, -0.1), ...fleet(40.7, -74)];
  expect(denseOf(both)).toEqual(allOf(both));
  const few = [...fleet(51.5, -0.1).slice(0, DENSE_COUNT_MIN - 2), [0, 90] as const];
  expect(denseOf(few)).toEqual(allOf(few));
});

test("denseBoundsOf() holds 95% of many places, whatever their order", () => {
  // Every fourth van is in another city, one of thirty anywhere.
  const vans = Array.from({ length: 60_000 }, (_, van): Place => {
    const spread = (van * 0.754877666) % 1;
    if (van % 30 === 7) return [120 * spread - 60, ((van * 7919) % 360) - 180];
    return [50 + (van % 4) + spread / 100, 5 + ((van * 0.569840291) % 1)];
  });
  const bounds = denseOf(vans);
  expect(vans.filter((place) => holds(bounds, place)).length).toBeGreaterThanOrEqual(0.95 * vans.length - 1);
  expect(bounds.east - bounds.west).toBeLessThan(1.5);
});

test("denseBoundsOf() shows all devices if leaving some out gains little", () => {
  const row = Array.from({ length: 100 }, (_, van): Place => [51.5, van / 100]);
  expect(denseOf(row)).toEqual(allOf(row));
});

test("denseBoundsOf() crosses ±180°, and is a point for devices at one place", () => {
  const fiji = Array.from({ length: 40 }, (_, van): Place => [-17, van % 2 === 0 ? 179.5 : -179.5]);
  expect(denseOf([...fiji, [50, 0]])).toEqual({ west: 179.5, south: -17, east: 180.5, north: -17 });
  const depot = Array.from({ length: 40 }, (): Place => [60, 25]);
  expect(denseOf([...depot, [0, 0]])).toEqual({ west: 25, south: 60, east: 25, north: 60 });
  expect(denseBoundsOf(new Float64Array(0), new Float64Array(0))).toBeNull();
});

function denseOf(each: readonly Place[]): Bounds {
  return denseBoundsOf(
    Float64Array.from(each, ([latitude]) => latitude),
    Float64Array.from(each, ([, longitude]) => longitude),
  )!;
}

function allOf(each: readonly Place[]): Bounds {
  return boundsOf(
    each.map(([latitude]) => latitude),
    each.map(([, longitude]) => longitude),
  )!;
}

function holds({ west, south, east, north }: Bounds, [latitude, longitude]: Place): boolean {
  return latitude >= south && latitude <= north && (longitude - west + 720) % 360 <= east - west + 1e-9;
}

/** The longer side on the map, in units of `world.ts`. */
function sideOf({ west, south, east, north }: Bounds): number {
  return Math.max(((east - west) / 360) * WORLD_SIZE, worldY(south) - worldY(north));
}

/** Tries every pair of a western and a northern edge: the longer side of the smallest box from there. */
function leastSide(each: readonly Place[], countMin: number): number {
  const points = each.map(([latitude, longitude]) => ({ x: worldX(longitude), y: worldY(latitude) }));
  let least = Number.POSITIVE_INFINITY;
  for (const { x: west } of points)
    for (const { y: north } of points) {
      const sides = points
        .filter(({ y }) => y >= north)
        .map(({ x, y }) => Math.max((x - west) >>> 0, y - north))
        .sort((a, b) => a - b);
      least = Math.min(least, sides[countMin - 1] ?? Number.POSITIVE_INFINITY);
    }
  return least;
}
