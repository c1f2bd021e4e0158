import { expect, test } from "bun:test";
import { PlaceGrid } from "../../../src/map/place-grid.ts";
import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "../../../src/model/geo/distance.ts";
import * as fc from "../../support/fast-check.ts";

const NEAR_METERS = 160_000;

/** Where one comes to from a position after so many meters of a great circle, begun in a direction. */
function destination(latitude: number, longitude: number, bearing: number, meters: number) {
  const [angle, turn] = [meters / EARTH_RADIUS_METERS, bearing * RADIANS_PER_DEGREE];
  const from = latitude * RADIANS_PER_DEGREE;
  const sine = Math.sin(from) * Math.cos(angle) + Math.cos(from) * Math.sin(angle) * Math.cos(turn);
  const east = Math.atan2(
    Math.sin(turn) * Math.sin(angle) * Math.cos(from),
    Math.cos(angle) - Math.sin(from) * sine,
  );
  const turned = longitude + east / RADIANS_PER_DEGREE;
  return {
    latitude: Math.asin(Math.max(-1, Math.min(1, sine))) / RADIANS_PER_DEGREE,
    longitude: turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned,
  };
}

const latitudes = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.double({ min: 85, max: 90, noNaN: true }),
);
const longitudes = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.double({ min: -1, max: 1, noNaN: true }).map((east) => (east < 0 ? 180 + east : -180 + east)),
);
const bearings = fc.oneof(fc.double({ min: 0, max: 360, noNaN: true }), fc.constantFrom(0, 90, 180, 270));

test("a place that is near may be held, on any side, over poles and ±180° too", () => {
  fc.assert(
    fc.property(
      latitudes,
      longitudes,
      bearings,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (lat, lon, bearing, share) => {
        const place = destination(lat, lon, bearing, NEAR_METERS * Math.sqrt(share));
        const grid = new PlaceGrid(NEAR_METERS);
        grid.add(place.latitude, place.longitude);
        expect(grid.mayHoldNear(lat, lon)).toBe(true);
      },
    ),
    { numRuns: 2000 },
  );
});

test("no place is held where cells are empty as far as near goes", () => {
  const grid = new PlaceGrid(NEAR_METERS);
  expect(grid.mayHoldNear(0, 0)).toBe(false);
  grid.add(0.5, 3.5);
  expect(grid.mayHoldNear(0.5, 1.5)).toBe(false); // 1.44 degrees are near.
  expect(grid.mayHoldNear(0.5, 1.6)).toBe(true); // The cell begins at 3.
  expect(grid.mayHoldNear(0.5, 5.4)).toBe(true);
  expect(grid.mayHoldNear(0.5, 5.5)).toBe(false); // It ends at 4.
  expect(grid.mayHoldNear(-1, 3.5)).toBe(true);
  expect(grid.mayHoldNear(-2, 3.5)).toBe(false);
});
