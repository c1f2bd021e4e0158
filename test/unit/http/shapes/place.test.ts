import { expect, test } from "bun:test";
import { placeOf } from "../../../../src/http/shapes/place.ts";
import { METERS_PER_MILE } from "../../../../src/model/geo/distance.ts";

const placed = (miles: number, bearingDegrees: number) =>
  placeOf(
    { nearest: () => ({ name: "Å", country: "NO", meters: miles * METERS_PER_MILE, bearingDegrees }) },
    0,
    0,
  );

test("distances have 4 decimals and bearings 2, below 360", () => {
  expect(placed(1.23456, 12.345)).toEqual({
    name: "Å",
    country: "NO",
    distance_miles: 1.2346,
    bearing_degrees: 12.35,
  });
  expect(placed(0.00004, 359.994)).toMatchObject({ distance_miles: 0, bearing_degrees: 359.99 });
  expect(placed(99.99996, 359.996)).toMatchObject({ distance_miles: 100, bearing_degrees: 0 });
});

test("no place is null", () => {
  expect(placeOf({ nearest: () => null }, 0, 0)).toBeNull();
});
