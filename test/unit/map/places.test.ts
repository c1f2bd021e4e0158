import { expect, test } from "bun:test";
import { NEAR_METERS_MAX } from "../../../src/map/places.ts";
import { haversineMeters, initialBearingDegrees } from "../../../src/model/geo/distance.ts";
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
