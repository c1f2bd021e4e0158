import { expect, test } from "bun:test";
import { NEAR_METERS_MAX, PlaceGrid } from "../../../src/map/places.ts";
import {
  EARTH_RADIUS_METERS,
  haversineMeters,
  initialBearingDegrees,
  RADIANS_PER_DEGREE,
} from "../../../src/model/geo/distance.ts";
import * as fc from "../../support/fast-check.ts";
import { loadTestPlaces } from "../../support/test-places.ts";

/**
 * Goal: of all places in the file, the nearest one is found, and none where all are too far.
 * Method: the obvious loop over the file's own lines, asked at random, at the poles, on both sides of ±180°, near
 * places, and on the edge of what is near.
 */

const places = await loadTestPlaces();
const [counted, ...lines] = (
  await Bun.file(new URL("../../../data/places/cities.tsv", import.meta.url)).text()
)
  .trimEnd()
  .split("\n");
const all = lines.map((line) => {
  const [latitude, longitude, country, name] = line.split("\t");
  return { latitude: Number(latitude), longitude: Number(longitude), country: country!, name: name! };
});

type Position = readonly [latitude: number, longitude: number];

function nearestOfAll([latitude, longitude]: Position) {
  let nearest = all[0]!;
  let metersMin = Number.POSITIVE_INFINITY;
  for (const place of all) {
    // Not nearer than by their latitudes.
    if (Math.abs(place.latitude - latitude) * 111_194 > metersMin) continue;
    const meters = haversineMeters(place.latitude, place.longitude, latitude, longitude);
    if (meters >= metersMin) continue;
    nearest = place;
    metersMin = meters;
  }
  if (metersMin > NEAR_METERS_MAX) return null;
  const bearingDegrees = initialBearingDegrees(nearest.latitude, nearest.longitude, latitude, longitude);
  return { name: nearest.name, country: nearest.country, meters: metersMin, bearingDegrees };
}

const latitudes = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.constantFrom(-90, 90, -89.999999, 89.999999, 0, 66, -78),
);
const longitudes = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.constantFrom(-180, 180, -179.999999, 179.999999, 0),
);
const besidePlaces = fc
  .tuple(
    fc.nat(all.length - 1),
    fc.double({ min: -2, max: 2, noNaN: true }),
    fc.double({ min: -3, max: 3, noNaN: true }),
  )
  .map(([row, north, east]): Position => {
    const { latitude, longitude } = all[row]!;
    return [
      Math.max(-90, Math.min(90, latitude + north)),
      ((((longitude + east + 180) % 360) + 360) % 360) - 180,
    ];
  });
/** Fiji, Chukotka and the Aleutians, on either side of ±180°. */
const acrossAntimeridian = fc.tuple(
  fc.double({ min: -25, max: 72, noNaN: true }),
  fc.double({ min: -5, max: 5, noNaN: true }).map((east) => (east < 0 ? 180 + east : -180 + east)),
);
const positions: fc.Arbitrary<Position> = fc.oneof(
  fc.tuple(latitudes, longitudes),
  besidePlaces,
  acrossAntimeridian,
);

test("nearest() finds what the obvious loop over all places finds, anywhere", () => {
  fc.assert(
    fc.property(positions, (position) => {
      expect(places.nearest(...position)).toEqual(nearestOfAll(position));
    }),
    { numRuns: 600 },
  );
});

test("the file says how many places it has, and none lies where another does", () => {
  expect(Number(counted)).toBe(all.length);
  expect(all.length).toBeGreaterThan(130_000);
  expect(new Set(all.map(({ latitude, longitude }) => `${latitude} ${longitude}`)).size).toBe(all.length);
});

test("a place is found at its own point, 0 meters away, in no direction", () => {
  for (let row = 0; row < all.length; row += 997) {
    const { latitude, longitude, country, name } = all[row]!;
    expect(places.nearest(latitude, longitude)).toEqual({ name, country, meters: 0, bearingDegrees: 0 });
  }
});

test("known points are near what maps say", () => {
  const known: readonly (readonly [...Position, string | null])[] = [
    [42.393, -71.031, "Chelsea US"],
    [53.4094, -2.9785, "Liverpool GB"],
    [52.6638, -8.6267, "Luimneach IE"],
    [78.22, 15.65, "Longyearbyen SJ"],
    [-16.85, 179.97, "Labasa FJ"],
    [0, -30, null], // The Atlantic,
    [-48.88, -123.39, null], // and where every coast is farthest.
    [90, 0, null],
    [-90, 0, null],
  ];
  for (const [latitude, longitude, expected] of known) {
    const found = places.nearest(latitude, longitude);
    expect(found === null ? null : `${found.name} ${found.country}`).toBe(expected);
  }
});

test("what is near ends at 100 miles", () => {
  // West of Hanga Roa on Easter Island, where nothing else is.
  const { latitude, longitude } = all.find(({ name }) => name === "Hanga Roa")!;
  const atMost = (meters: number) => {
    let [west, east] = [longitude - 5, longitude];
    for (let step = 0; step < 60; step++) {
      const middle = (west + east) / 2;
      if (haversineMeters(latitude, longitude, latitude, middle) > meters) west = middle;
      else east = middle;
    }
    return east;
  };
  expect(places.nearest(latitude, atMost(NEAR_METERS_MAX - 1))?.name).toBe("Hanga Roa");
  expect(places.nearest(latitude, atMost(NEAR_METERS_MAX + 1))).toBeNull();
});

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

const polarLatitudes = fc.oneof(
  fc.double({ min: -90, max: 90, noNaN: true }),
  fc.double({ min: 85, max: 90, noNaN: true }),
);
const seamLongitudes = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.double({ min: -1, max: 1, noNaN: true }).map((east) => (east < 0 ? 180 + east : -180 + east)),
);
const bearings = fc.oneof(fc.double({ min: 0, max: 360, noNaN: true }), fc.constantFrom(0, 90, 180, 270));

test("a place that is near may be held, on any side, over poles and ±180° too", () => {
  fc.assert(
    fc.property(
      polarLatitudes,
      seamLongitudes,
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
