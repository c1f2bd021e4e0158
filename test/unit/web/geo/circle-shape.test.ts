import { expect, test } from "bun:test";
import { EARTH_RADIUS_METERS, haversineMeters } from "../../../../src/model/geo/distance.ts";
import { circleShape } from "../../../../src/web/geo/circle-shape.ts";
import type { Position } from "../../../../src/web/geo/earth.ts";
import { LATITUDE_MAX } from "../../../../src/web/geo/world.ts";
import * as fc from "../../../support/fast-check.ts";

/** As the server measures. */
function metersBetween([longitudeA, latitudeA]: Position, [longitudeB, latitudeB]: Position): number {
  return haversineMeters(latitudeA, longitudeA, latitudeB, longitudeB);
}

/** Whether an odd number of the rings' sides lies north of the place, on any copy of the world. */
function isWithin(area: readonly Position[][], [longitude, latitude]: Position): boolean {
  let isOdd = false;
  for (const ring of area)
    for (let i = 1; i < ring.length; i++)
      for (const copy of [-720, -360, 0, 360, 720]) {
        const [fromX, fromY] = ring[i - 1]!;
        const [toX, toY] = ring[i]!;
        const x = longitude + copy;
        if (fromX > x === toX > x) continue;
        if (fromY + ((x - fromX) / (toX - fromX)) * (toY - fromY) > latitude) isOdd = !isOdd;
      }
  return isOdd;
}

const centers = fc.record({
  latitude: fc.oneof(
    fc.double({ min: -90, max: 90, noNaN: true }),
    fc.constantFrom(0, 89, -89, 90, -90, 89.99999999999999),
  ),
  longitude: fc.oneof(fc.double({ min: -180, max: 180, noNaN: true }), fc.constantFrom(180, -180, 179.9)),
});
const radii = fc.oneof(
  fc.double({ min: 100, max: 19_000_000, noNaN: true }),
  fc.constantFrom(1609.344, 160_934),
);
/** On no meridian where a ring may begin: there, rounding decides. */
const places: fc.Arbitrary<Position> = fc.tuple(
  fc.integer({ min: -180_000, max: 179_999 }).map((thousandths) => (thousandths + 0.123456) / 1000),
  fc.double({ min: -LATITUDE_MAX + 0.01, max: LATITUDE_MAX - 0.01, noNaN: true }),
);

test("the edge of circleShape() is as far from the middle everywhere, and never leaps across the map", () => {
  fc.assert(
    fc.property(centers, radii, (center, radiusMeters) => {
      const { edge } = circleShape(center, radiusMeters);
      for (const [index, position] of edge.entries()) {
        const meters = metersBetween([center.longitude, center.latitude], position);
        expect(Math.abs(meters - radiusMeters)).toBeLessThan(1 + radiusMeters * 1e-6);
        const before = edge[index - 1] ?? position;
        expect(Math.abs(position[0] - before[0])).toBeLessThanOrEqual(180 + 1e-6);
      }
    }),
  );
});

test("the area of circleShape() holds the places that are no further than the radius", () => {
  fc.assert(
    fc.property(centers, radii, places, (center, radiusMeters, place) => {
      const meters = metersBetween([center.longitude, center.latitude], place);
      // Its 180 sides are straight on the map, and bulge there by a few hundredths where it nears a pole.
      fc.pre(
        Math.abs(meters - radiusMeters) >
          0.05 * Math.min(radiusMeters, Math.PI * EARTH_RADIUS_METERS - radiusMeters),
      );
      const { area } = circleShape(center, radiusMeters);
      expect(isWithin(area, place)).toBe(meters < radiusMeters);
    }),
    { numRuns: 2000 },
  );
});

test("circleShape() crosses ±180° in one piece, and covers the world where the radius does", () => {
  const { area, edge } = circleShape({ latitude: -17, longitude: 179.9 }, 50_000);
  const longitudes = edge.map(([longitude]) => longitude);
  expect(Math.max(...longitudes)).toBeGreaterThan(180.3);
  expect(Math.min(...longitudes)).toBeGreaterThan(179.4);
  expect(area).toEqual([edge]);
  expect(circleShape({ latitude: 0, longitude: 0 }, 20_100_000).edge).toEqual([]);
});
