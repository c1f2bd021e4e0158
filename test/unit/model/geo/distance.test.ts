import { describe, expect, test } from "bun:test";
import {
  EARTH_RADIUS_METERS,
  haversineMeters,
  initialBearingDegrees,
  METERS_PER_MILE,
  RADIANS_PER_DEGREE,
} from "../../../../src/model/geo/distance.ts";
import * as fc from "../../../support/fast-check.ts";
import { csvRows, readTestData } from "../../../support/test-data.ts";

/** Evenly spread, where `fc.double` would be tiny most of the time: it draws exponents evenly. */
const real = (min: number, max: number) =>
  fc.integer({ min: 0, max: 2 ** 31 }).map((step) => min + (max - min) * (step / 2 ** 31));

const latitudes = fc.oneof(
  real(-90, 90),
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.constantFrom(-90, 90, 0, -0, 89.9999999, -89.9999999),
);
const longitudes = fc.oneof(
  real(-180, 180),
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.constantFrom(-180, 180, 0, -0, 179.9999999, -179.9999999),
);

/** The angle between two unit vectors in space, which knows no poles and no ±180. */
function vectorMeters(latA: number, lonA: number, latB: number, lonB: number): number {
  const [ax, ay, az] = unitVector(latA, lonA);
  const [bx, by, bz] = unitVector(latB, lonB);
  const sine = Math.hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
  return EARTH_RADIUS_METERS * Math.atan2(sine, ax * bx + ay * by + az * bz);
}

function unitVector(latitude: number, longitude: number): [number, number, number] {
  const lat = latitude * RADIANS_PER_DEGREE;
  const lon = longitude * RADIANS_PER_DEGREE;
  return [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)];
}

describe("haversineMeters()", () => {
  test("gives published answers on a sphere of 6,371,000 m", () => {
    const text = readTestData("geodesy/spherical_known_answers.csv");
    if (text === null) return;
    const rows = csvRows(text).filter(([name]) => name === "distanceTo");
    expect(rows).toHaveLength(2);
    for (const [, latA, lonA, latB, lonB, radius, expected] of rows) {
      const onTheirs =
        (haversineMeters(Number(latA), Number(lonA), Number(latB), Number(lonB)) / EARTH_RADIUS_METERS) *
        Number(radius);
      expect(Number(onTheirs.toPrecision(expected!.replace(".", "").length))).toBe(Number(expected)); // Their digits.
    }
  });

  test("stays within 0.56 % of the ellipsoid on GeographicLib's lines", () => {
    const text = readTestData("geodesy/GeodTest-100.dat");
    if (text === null) return;
    const lines = text.trim().split("\n");
    expect(lines).toHaveLength(100);
    for (const line of lines) {
      const [latA, lonA, , latB, lonB, , meters] = line.split(" ").map(Number) as [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      const error = Math.abs(haversineMeters(latA, lonA, latB, lonB) - meters) / meters;
      expect(error).toBeLessThan(0.0056);
    }
  });

  test("stays within 0.56 % of Vincenty's answers", () => {
    const text = readTestData("geodesy/ellipsoidal_wgs84_known_answers.csv");
    if (text === null) return;
    const rows = csvRows(text).filter(
      ([name, , , , , , expected]) => name === "distanceTo" && expected !== "NaN",
    );
    expect(rows).toHaveLength(20);
    for (const [, latA, lonA, latB, lonB, , expected] of rows) {
      const meters = haversineMeters(Number(latA), Number(lonA), Number(latB), Number(lonB));
      expect(Math.abs(meters - Number(expected)) / Number(expected)).toBeLessThan(0.0056);
    }
  });

  test("agrees with another server's nearby answers, to its rounding of positions", () => {
    const text = readTestData("geodesy/redis_geo_known_answers.csv");
    if (text === null) return;
    const rows = csvRows(text);
    const points = new Map(
      rows
        .filter(([kind]) => kind === "point")
        .map(([, name, lat, lon]) => [name, [Number(lat), Number(lon)]]),
    );
    const answers = rows.filter(([kind]) => kind!.startsWith("radius"));
    expect(answers).toHaveLength(8);
    for (const [, name, , , lat, lon, , , expectedKm] of answers) {
      const [pointLat, pointLon] = points.get(name) as [number, number];
      const meters = haversineMeters(Number(lat), Number(lon), pointLat, pointLon);
      const onTheirs = (meters / EARTH_RADIUS_METERS) * 6_372_797.560856;
      expect(Math.abs(onTheirs - Number(expectedKm) * 1000)).toBeLessThan(1);
    }
  });

  test("is exactly 0 for one position, also written with the other sign of 180", () => {
    fc.assert(
      fc.property(latitudes, longitudes, (lat, lon) => {
        expect(haversineMeters(lat, lon, lat, lon)).toBe(0);
        expect(haversineMeters(lat, 180, lat, -180)).toBe(0);
        expect(haversineMeters(lat, -180, lat, 180)).toBe(0);
      }),
    );
  });

  test("is exactly 0 at a pole, under any two longitudes", () => {
    fc.assert(
      fc.property(fc.constantFrom(-90, 90), longitudes, longitudes, (pole, lonA, lonB) => {
        expect(haversineMeters(pole, lonA, pole, lonB)).toBe(0);
      }),
    );
  });

  test("agrees with vectors in space, both ways round, and is never NaN", () => {
    fc.assert(
      fc.property(latitudes, longitudes, latitudes, longitudes, (latA, lonA, latB, lonB) => {
        const meters = haversineMeters(latA, lonA, latB, lonB);
        expect(haversineMeters(latB, lonB, latA, lonA)).toBe(meters);
        // An asin near 1 keeps half the digits: 0.2 m of 20,000 km.
        expect(Math.abs(meters - vectorMeters(latA, lonA, latB, lonB))).toBeLessThan(
          meters > 2e7 ? 0.2 : 1e-4,
        );
      }),
      { numRuns: 2000 },
    );
  });

  test("is half the circumference between antipodes, never NaN", () => {
    fc.assert(
      fc.property(latitudes, real(-180, 0), (lat, lon) => {
        expect(haversineMeters(lat, lon, -lat, lon + 180)).toBeCloseTo(Math.PI * EARTH_RADIUS_METERS, 0);
      }),
    );
    // These two round to a haversine above 1, which has no arcsine.
    const rounded = haversineMeters(
      59.32064717853922,
      -23.899805755887705,
      -59.320647151665035,
      156.1001942441123,
    );
    expect(rounded).toBe(Math.PI * EARTH_RADIUS_METERS);
  });

  test("keeps the digits of short ways", () => {
    const degree = EARTH_RADIUS_METERS * RADIANS_PER_DEGREE;
    expect(haversineMeters(0, 0, 0, 1e-7)).toBeCloseTo(degree * 1e-7, 12);
    expect(haversineMeters(0, 179.9999999, 0, -179.9999999)).toBeCloseTo(degree * 2e-7, 7);
    expect(METERS_PER_MILE).toBe(1609.344);
  });
});

describe("initialBearingDegrees()", () => {
  test("gives published answers on a sphere", () => {
    const text = readTestData("geodesy/spherical_known_answers.csv");
    if (text === null) return;
    const [row] = csvRows(text).filter(([name]) => name === "initialBearingTo");
    const [, latA, lonA, latB, lonB, , expected] = row!;
    expect(initialBearingDegrees(Number(latA), Number(lonA), Number(latB), Number(lonB))).toBeCloseTo(
      Number(expected),
      1,
    );
  });

  test("points north, east, south and west, over ±180 too", () => {
    expect(initialBearingDegrees(10, 20, 11, 20)).toBe(0);
    expect(initialBearingDegrees(0, 179.5, 0, -179.5)).toBe(90);
    expect(initialBearingDegrees(10, 20, 9, 20)).toBe(180);
    expect(initialBearingDegrees(0, -179.5, 0, 179.5)).toBe(270);
  });

  test("is 0 and not 360 a hair west of north", () => {
    expect(initialBearingDegrees(0, 0, 80, -1e-14)).toBe(0);
  });

  test("is 0, not -0, for one position, also written with the other sign of 180", () => {
    fc.assert(
      fc.property(latitudes, longitudes, (lat, lon) => {
        expect(initialBearingDegrees(lat, lon, lat, lon)).toBe(0);
        expect(initialBearingDegrees(lat, 180, lat, -180)).toBe(0);
        expect(initialBearingDegrees(lat, -180, lat, 180)).toBe(0);
      }),
    );
  });

  test("is 0 at a pole, under any two longitudes", () => {
    fc.assert(
      fc.property(fc.constantFrom(-90, 90), longitudes, longitudes, (pole, lonA, lonB) => {
        expect(initialBearingDegrees(pole, lonA, pole, lonB)).toBe(0);
      }),
    );
  });

  test("is from 0 to before 360 everywhere", () => {
    fc.assert(
      fc.property(latitudes, longitudes, latitudes, longitudes, (latA, lonA, latB, lonB) => {
        const degrees = initialBearingDegrees(latA, lonA, latB, lonB);
        expect(degrees >= 0 && degrees < 360 && !Object.is(degrees, -0)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
