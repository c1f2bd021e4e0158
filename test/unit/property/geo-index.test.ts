import { expect, test } from "bun:test";
import { type Box, circleBoxes } from "../../../src/model/geo/box.ts";
import { EARTH_RADIUS_METERS, haversineMeters, RADIANS_PER_DEGREE } from "../../../src/model/geo/distance.ts";
import { geohashBox, geohashCell } from "../../../src/model/geo/geohash.ts";
import * as fc from "../../support/fast-check.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { geohashText, parseGeohash } from "../../support/reports/geohash-text.ts";

/** Evenly spread, where `fc.double` would be tiny most of the time: it draws exponents evenly. */
const real = (min: number, max: number) =>
  fc.integer({ min: 0, max: 2 ** 31 }).map((step) => min + (max - min) * (step / 2 ** 31));

/** Crowds the poles, the equator and ±180. */
const latitudes = fc.oneof(
  real(-90, 90),
  real(89.99, 90),
  real(-90, -89.99),
  real(-1e-6, 1e-6),
  fc.constantFrom(90, -90, 0, 45),
);
const longitudes = fc.oneof(
  real(-180, 180),
  real(179.99, 180),
  real(-180, -179.99),
  real(-1e-6, 1e-6),
  fc.constantFrom(180, -180, 0, 90, -90),
);
/** From a millimeter to more than the earth, most of them as wide as a search. */
const radii = fc.oneof(
  fc.constantFrom(0, 0.001, 1609.344, 80_467.2, 10_007_557, 10_007_558, 20_015_115),
  real(0, 100),
  real(0, 80_467.2),
  real(0, 2.1e7),
);

/** Ways from the center, most of them to a circle's edge, where rounding decides on which side they end. */
const bearings = fc.oneof(real(0, 360), fc.constantFrom(0, 90, 180, 270));
const shares = fc.oneof(real(0, 1), real(0.999999, 1), fc.constant(1));

/** Where a way of so many meters in this direction ends. */
function pointAt(
  latitude: number,
  longitude: number,
  bearingDegrees: number,
  meters: number,
): [number, number] {
  const angle = meters / EARTH_RADIUS_METERS;
  const bearing = bearingDegrees * RADIANS_PER_DEGREE;
  const lat = latitude * RADIANS_PER_DEGREE;
  const sinLat = Math.sin(lat) * Math.cos(angle) + Math.cos(lat) * Math.sin(angle) * Math.cos(bearing);
  const east = Math.sin(bearing) * Math.sin(angle) * Math.cos(lat);
  const lon = longitude + Math.atan2(east, Math.cos(angle) - Math.sin(lat) * sinLat) / RADIANS_PER_DEGREE;
  return [Math.asin(Math.max(-1, Math.min(1, sinLat))) / RADIANS_PER_DEGREE, turnedLongitude(lon)];
}

function turnedLongitude(longitude: number): number {
  if (longitude > 180) return longitude - 360;
  return longitude < -180 ? longitude + 360 : longitude;
}

function holds(
  { minLatitude, maxLatitude, minLongitude, maxLongitude }: Box,
  lat: number,
  lon: number,
): boolean {
  return lat >= minLatitude && lat <= maxLatitude && lon >= minLongitude && lon <= maxLongitude;
}

test("circleBoxes() hold every point that haversineMeters() finds inside", () => {
  let inside = 0;
  fc.assert(
    fc.property(
      latitudes,
      longitudes,
      radii,
      fc.array(fc.tuple(latitudes, longitudes), { maxLength: 10 }),
      fc.array(fc.tuple(bearings, shares), {
        minLength: 10,
        maxLength: 20,
      }),
      (latitude, longitude, radiusMeters, anywhere, ways) => {
        const boxes = circleBoxes(latitude, longitude, radiusMeters);
        expect(boxes.length).toBeLessThanOrEqual(2);
        const near = ways.map(([bearing, share]) =>
          pointAt(latitude, longitude, bearing, radiusMeters * share),
        );
        const mirrored = near.map(([lat, lon]): [number, number] => [
          lat,
          Math.abs(lon) === 180 ? -lon : lon,
        ]);
        for (const [lat, lon] of [
          ...anywhere,
          ...near,
          ...mirrored,
          [latitude, longitude] as [number, number],
        ]) {
          if (haversineMeters(latitude, longitude, lat, lon) > radiusMeters) continue;
          inside++;
          const found = boxes.some((box) => holds(box, lat, lon));
          expect({ lat, lon, found }).toEqual({ lat, lon, found: true });
        }
      },
    ),
    { numRuns: 5000 },
  );
  expect(inside).toBeGreaterThan(randomRuns(30_000));
});

test("circleBoxes() stay on the map, run forward, and touch nothing far away", () => {
  fc.assert(
    fc.property(latitudes, longitudes, radii, (latitude, longitude, radiusMeters) => {
      const boxes = circleBoxes(latitude, longitude, radiusMeters);
      for (const box of boxes) {
        expect(box.minLatitude >= -90 && box.maxLatitude <= 90 && box.minLatitude <= box.maxLatitude).toBe(
          true,
        );
        expect(
          box.minLongitude >= -180 && box.maxLongitude <= 180 && box.minLongitude <= box.maxLongitude,
        ).toBe(true);
        // Edges of latitude lie on the circle (less where a pole cuts it), so with the margin no further than this.
        const reach = Math.max(latitude - box.minLatitude, box.maxLatitude - latitude) * RADIANS_PER_DEGREE;
        expect(reach * EARTH_RADIUS_METERS).toBeLessThan(radiusMeters + 1);
      }
      const degrees = boxes.reduce((sum, box) => sum + box.maxLongitude - box.minLongitude, 0);
      expect(degrees).toBeLessThanOrEqual(360);
    }),
    { numRuns: 2000 },
  );
});

test("circleBoxes() reach as far east and west as the circle does, and no further", () => {
  fc.assert(
    fc.property(real(-80, 80), longitudes, real(1000, 800_000), (latitude, longitude, radiusMeters) => {
      const boxes = circleBoxes(latitude, longitude, radiusMeters);
      const degrees = boxes.reduce((sum, box) => sum + box.maxLongitude - box.minLongitude, 0);
      const angle = radiusMeters / EARTH_RADIUS_METERS;
      const touching =
        Math.asin(Math.sin(latitude * RADIANS_PER_DEGREE) / Math.cos(angle)) / RADIANS_PER_DEGREE;
      for (const side of [1, -1]) {
        const edge = longitude + (side * degrees) / 2;
        expect(haversineMeters(latitude, longitude, touching, turnedLongitude(edge))).toBeCloseTo(
          radiusMeters,
          -1,
        );
        const within = turnedLongitude(edge - side * 1e-4);
        const beyond = turnedLongitude(edge + side * 1e-4);
        expect(boxes.some((box) => holds(box, touching, within))).toBe(true);
        expect(boxes.some((box) => holds(box, touching, beyond))).toBe(false);
      }
    }),
    { numRuns: 2000 },
  );
});

const bitCounts = fc.integer({ min: 1, max: 52 });
const ROUNDING_DEGREES = 1e-13;

test("geohashBox() holds the point whose cell it is, and its middle is of the cell again", () => {
  fc.assert(
    fc.property(latitudes, longitudes, bitCounts, (latitude, longitude, bits) => {
      const cell = geohashCell(latitude, longitude, bits);
      const box = geohashBox(cell, bits);
      expect(latitude).toBeGreaterThanOrEqual(box.minLatitude - ROUNDING_DEGREES);
      expect(latitude).toBeLessThanOrEqual(box.maxLatitude + ROUNDING_DEGREES);
      expect(longitude).toBeGreaterThanOrEqual(box.minLongitude - ROUNDING_DEGREES);
      expect(longitude).toBeLessThanOrEqual(box.maxLongitude + ROUNDING_DEGREES);
      const middle = [
        (box.minLatitude + box.maxLatitude) / 2,
        (box.minLongitude + box.maxLongitude) / 2,
      ] as const;
      expect(geohashCell(...middle, bits)).toBe(cell);
      expect(geohashCell(box.minLatitude, box.minLongitude, bits)).toBe(cell); // South and west edges are its own.
    }),
    { numRuns: 5000 },
  );
});

test("geohashCell() of fewer bits is where that of more bits begins", () => {
  fc.assert(
    fc.property(latitudes, longitudes, bitCounts, (latitude, longitude, bits) => {
      const finest = geohashCell(latitude, longitude, 52);
      expect(geohashCell(latitude, longitude, bits)).toBe(Math.floor(finest / 2 ** (52 - bits)));
    }),
    { numRuns: 5000 },
  );
});

test("parseGeohash() undoes geohashText()", () => {
  fc.assert(
    fc.property(latitudes, longitudes, fc.integer({ min: 1, max: 10 }), (latitude, longitude, characters) => {
      const bits = characters * 5;
      const cell = geohashCell(latitude, longitude, bits);
      expect(parseGeohash(geohashText(cell, bits))).toEqual({ cell, bits });
    }),
  );
});
