import { describe, expect, test } from "bun:test";
import { PositionIndex } from "../../../src/spatial/position-index.ts";
import { PositionSearch } from "../../../src/spatial/search.ts";
import { numberOrder } from "../../support/number-order.ts";
import { csvRows, readTestData } from "../../support/test-data.ts";

/** What other people's software answers about positions that everybody can look up. */

/** Of the sphere that the contract measures on; theirs are others. */
const EARTH_RADIUS_METERS = 6_371_008.8;

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** Every place is a device, with its row for a number. */
function indexOf(places: readonly Place[]) {
  const index = new PositionIndex(new PositionSearch(), numberOrder(10_000));
  places.forEach(({ latitude, longitude }, device) => {
    index.set(device, latitude, longitude, 0, Number.NaN);
  });
  return index;
}

function findAround(index: ReturnType<typeof indexOf>, center: Place, radiusMeters: number) {
  const { count, devices, meters, bearings, matches, candidates } = index.find({
    ...center,
    radiusMeters,
    oldestMs: 0,
    accuracyMetersMax: Number.POSITIVE_INFINITY,
    offset: 0,
    limit: 100,
  });
  expect(matches).toBe(count);
  expect(candidates).toBeGreaterThanOrEqual(matches);
  return Array.from({ length: count }, (_, row) => ({
    device: devices[row]!,
    meters: meters[row]!,
    bearing: bearings[row]!,
  }));
}

describe("find() answers as Redis does", () => {
  /** Redis' sphere is larger than ours: angles agree, and meters are in this ratio. */
  const REDIS_RADIUS_METERS = 6_372_797.560856;
  const onOurs = (meters: number) => (meters / REDIS_RADIUS_METERS) * EARTH_RADIUS_METERS;
  const onTheirs = (meters: number) => (meters / EARTH_RADIUS_METERS) * REDIS_RADIUS_METERS;

  /** Redis keeps positions as cells of 52 bits, 0.6 m wide and 0.3 m high, and measures from their middles. */
  const CELL_METERS_OFF_MAX = 0.6;

  const text = readTestData("geodesy/redis_geo_known_answers.csv");
  if (text === null) return;
  const rows = csvRows(text);
  const points = rows
    .filter(([kind]) => kind === "point")
    .map(([, name, latitude, longitude]) => ({
      name,
      latitude: Number(latitude),
      longitude: Number(longitude),
    }));
  const index = indexOf(points);

  test.each(["radius3km_asc", "radius7km_from_wtc_unordered"])("%s", (search) => {
    const answers = rows
      .filter(([kind]) => kind === search)
      .map(([, name, , , , , , , km]) => ({ name, km }));
    const [, , , , latitude, longitude, radiusKm] = rows.find(([kind]) => kind === search)!.map(Number);
    const found = findAround(index, { latitude: latitude!, longitude: longitude! }, onOurs(radiusKm! * 1000));
    const nearestFirst = answers.sort((a, b) => Number(a.km) - Number(b.km));
    expect(nearestFirst.length).toBeGreaterThan(2);
    expect(found.map(({ device }) => points[device]!.name)).toEqual(nearestFirst.map(({ name }) => name));
    found.forEach(({ meters }, row) => {
      const theirs = Number(nearestFirst[row]!.km) * 1000;
      expect(Math.abs(onTheirs(meters) - theirs)).toBeLessThan(CELL_METERS_OFF_MAX);
    });
  });

  test("Palermo to Catania", () => {
    const [, , ...cells] = rows.find(([kind]) => kind === "distance")!;
    const [latA, lonA, latB, lonB, , , km] = cells.map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const palermo = { latitude: latA, longitude: lonA };
    const catania = { latitude: latB, longitude: lonB };
    const [found, ...more] = findAround(indexOf([catania]), palermo, 200_000);
    expect(more).toEqual([]);
    expect(Math.abs(onTheirs(found!.meters) - km * 1000)).toBeLessThan(2 * CELL_METERS_OFF_MAX);
    expect(findAround(indexOf([catania]), palermo, onOurs(km * 1000) - 2)).toEqual([]);
  });
});

describe("find() answers as published on a sphere", () => {
  const text = readTestData("geodesy/spherical_known_answers.csv");
  if (text === null) return;
  const answers = csvRows(text).map(([kind, latA, lonA, latB, lonB, radius, expected]) => ({
    kind,
    from: { latitude: Number(latA), longitude: Number(lonA) },
    to: { latitude: Number(latB), longitude: Number(lonB) },
    radius: Number(radius),
    expected: expected!,
  }));

  /** The one place as it is found from another, in a circle that reaches it. */
  function findFrom(center: Place, place: Place) {
    const [found] = findAround(indexOf([place]), center, 1_000_000);
    return found!;
  }

  /** With as many digits as theirs has. */
  function rounded(value: number, theirs: string): string {
    return value.toFixed(theirs.split(".")[1]?.length ?? 0);
  }

  test("distances", () => {
    const distances = answers.filter(({ kind }) => kind === "distanceTo");
    expect(distances).toHaveLength(2);
    for (const { from, to, radius, expected } of distances) {
      const { meters } = findFrom(from, to);
      expect(rounded((meters / EARTH_RADIUS_METERS) * radius, expected)).toBe(expected);
      expect(findAround(indexOf([to]), from, meters - 1)).toEqual([]);
      expect(findAround(indexOf([to]), from, meters + 1)).toHaveLength(1);
    }
  });

  test("initial bearings", () => {
    const bearings = answers.filter(({ kind }) => kind === "initialBearingTo");
    expect(bearings).toHaveLength(1);
    for (const { from, to, expected } of bearings) {
      expect(rounded(findFrom(from, to).bearing, expected)).toBe(expected);
    }
  });

  test("final bearings, which look back from the other end", () => {
    const bearings = answers.filter(({ kind }) => kind === "finalBearingTo");
    expect(bearings).toHaveLength(1);
    for (const { from, to, expected } of bearings) {
      expect(rounded((findFrom(to, from).bearing + 180) % 360, expected)).toBe(expected);
    }
  });
});
