import { expect, test } from "bun:test";
import { haversineMeters } from "../../../../src/model/geo/distance.ts";
import {
  inDirectionOf,
  latitudeOf,
  longitudeOf,
  metersBetween,
  squaredChord,
  squaredChordOf,
  unitVector,
} from "../../../../src/model/geo/unit-vector.ts";
import * as fc from "../../../support/fast-check.ts";

const latitudes = fc.double({ min: -90, max: 90, noNaN: true });
const longitudes = fc.double({ min: -180, max: 180, noNaN: true });

test("metersBetween() is the haversine distance", () => {
  fc.assert(
    fc.property(latitudes, longitudes, latitudes, longitudes, (latA, lonA, latB, lonB) => {
      const meters = metersBetween(unitVector(latA, lonA), unitVector(latB, lonB));
      const expected = haversineMeters(latA, lonA, latB, lonB);
      // Both forms lose digits where one is opposite the other.
      expect(Math.abs(meters - expected)).toBeLessThan(expected > 19_000_000 ? 1 : 1e-6);
    }),
  );
});

test("squaredChordOf() is the squared chord of points that far apart", () => {
  const a = unitVector(10, 20);
  for (const [latitude, longitude] of [
    [10.001, 20],
    [-60, 170],
  ] as const) {
    const b = unitVector(latitude, longitude);
    expect(squaredChordOf(metersBetween(a, b))).toBeCloseTo(squaredChord(a, b), 12);
  }
});

test("latitudeOf() and longitudeOf() give back a position", () => {
  fc.assert(
    fc.property(fc.double({ min: -89.9, max: 89.9, noNaN: true }), longitudes, (latitude, longitude) => {
      const at = unitVector(latitude, longitude);
      expect(latitudeOf(at)).toBeCloseTo(latitude, 9);
      expect(Math.abs(longitudeOf(at) - longitude) % 360).toBeCloseTo(0, 9);
    }),
  );
});

test("the middle of positions on both sides of 180°, and around a pole, lies between them", () => {
  const middle = (positions: readonly (readonly [number, number])[]) => {
    const all = positions.map(([latitude, longitude]) => unitVector(latitude, longitude));
    const sum = (axis: "x" | "y" | "z") => all.reduce((total, at) => total + at[axis], 0);
    return inDirectionOf(sum("x"), sum("y"), sum("z"));
  };
  expect(
    Math.abs(
      longitudeOf(
        middle([
          [5, 179.998],
          [5, -179.998],
        ]),
      ),
    ),
  ).toBeCloseTo(180, 9);
  expect(
    latitudeOf(
      middle([
        [89.999, 0],
        [89.999, 120],
        [89.999, -120],
      ]),
    ),
  ).toBeCloseTo(90, 6);
});
