import { expect, test } from "bun:test";
import { haversineMeters } from "../../../src/model/geo/distance.ts";
import { PositionIndex } from "../../../src/spatial/position-index.ts";
import type { CircleQuery } from "../../../src/spatial/positions.ts";
import { PositionSearch } from "../../../src/spatial/search.ts";
import { listedOrder } from "../../support/number-order.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";

/*
 * Goal: where tens of thousands are equally far away, or nearly so, every page is as a scan tells.
 * Method: each fleet is searched from where that is so, with any age, accuracy and offset, while some of it moves.
 * Devices are in an order that has nothing to do with their numbers.
 */

const DEVICES = 40_000; // So many are never sorted.
const SEARCHES = randomRuns(60);
const TIMES = 1000; // So few that many are of one time.
const ACCURACIES = 20;
const MILE = 1609.344;

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

interface Fleet {
  readonly name: string;
  readonly center: Place;
  readonly place: (random: () => number) => Place;
  /** Whether so many are at one distance that all devices are gone through in order. */
  readonly isTied?: boolean;
}

const BOSTON = { latitude: 42.35, longitude: -71.05 };

/** Up to so many degrees to the north and the east. */
const within = (degrees: number, random: () => number) => ({
  latitude: BOSTON.latitude + random() * degrees,
  longitude: BOSTON.longitude + random() * degrees,
});

const FLEETS: readonly Fleet[] = [
  { name: "at one point", center: { latitude: 42.36, longitude: -71.05 }, place: () => BOSTON, isTied: true },
  { name: "at the center", center: BOSTON, place: () => BOSTON, isTied: true },
  {
    name: "at two points in a row",
    center: { latitude: 42.36, longitude: -71.05 },
    place: (random) => ({ latitude: 42.35 - Math.floor(random() * 2) * 1e-3, longitude: -71.05 }),
    isTied: true,
  },
  {
    name: "at two points that are equally far away",
    center: { latitude: 0, longitude: 20 },
    place: (random) => ({ latitude: random() < 0.5 ? 0.3 : -0.3, longitude: 20 }),
    isTied: true,
  },
  {
    name: "on a parallel around the pole",
    center: { latitude: 90, longitude: 0 },
    place: (random) => ({ latitude: 89.5, longitude: random() * 360 - 180 }),
    isTied: true,
  },
  {
    name: "at the pole, under all meridians",
    center: { latitude: 89.99, longitude: 5 },
    place: (random) => ({ latitude: 90, longitude: random() * 360 - 180 }),
    isTied: true,
  },
  {
    name: "on a parallel, within a centimeter",
    center: BOSTON,
    place: (random) => ({ ...BOSTON, longitude: within(1e-7, random).longitude }),
  },
  { name: "within a centimeter", center: BOSTON, place: (random) => within(1e-7, random) },
  {
    name: "within a centimeter, a mile away",
    center: { latitude: 42.364, longitude: -71.05 },
    place: (random) => within(1e-7, random),
  },
  { name: "within what rounding hides", center: BOSTON, place: (random) => within(2e-13, random) },
  {
    name: "at hundreds of points of one cell",
    center: { latitude: 42.352, longitude: -71.06 },
    place: (random) => ({
      latitude: BOSTON.latitude + Math.floor(random() * 20) * 1e-7,
      longitude: BOSTON.longitude + Math.floor(random() * 20) * 1e-7,
    }),
  },
  {
    name: "at one point within a city, and on its edge",
    center: BOSTON,
    place: (random) =>
      random() < 0.6 ? { latitude: 42.35 + 0.1, longitude: -71.05 } : within(0.3 * random(), random),
    isTied: true,
  },
];

test.each(FLEETS.map((fleet) => [fleet.name, fleet] as const))(
  "find() pages through a crowd %s",
  (_, fleet) => {
    const random = seededRandom(RANDOM_SEED);
    const order = Array.from({ length: DEVICES }, (_, rank) => (rank * 7919) % DEVICES);
    const rankOf = new Uint32Array(DEVICES);
    order.forEach((device, rank) => {
      rankOf[device] = rank;
    });
    const listed = listedOrder(order, (a, b) => rankOf[a]! - rankOf[b]!);
    let readings = 0;
    let refusals = 0;
    let isReady = true;
    const index = new PositionIndex(new PositionSearch(), {
      ...listed,
      isReady: () => isReady,
      reader: () => {
        readings++;
        return listed.reader();
      },
    });
    const positions: (Place & { timestampMs: number; accuracyMeters: number })[] = [];
    const report = (device: number, place: Place) => {
      const timestampMs = Math.floor(random() * TIMES);
      const accuracyMeters = random() < 0.1 ? Number.NaN : Math.floor(random() * ACCURACIES);
      positions[device] = { ...place, timestampMs, accuracyMeters };
      index.set(device, place.latitude, place.longitude, timestampMs, accuracyMeters);
    };
    for (let device = 0; device < DEVICES; device++) report(device, fleet.place(random));

    for (let search = 0; search < SEARCHES; search++) {
      // The first two pages lie in the middle of the crowd: once without the order of devices, once with it.
      const isAmidst = search < 2;
      isReady = isAmidst ? search === 1 : random() < 0.8;
      const offset = isAmidst
        ? DEVICES / 2
        : random() < 0.2
          ? 0
          : Math.floor(random() * DEVICES * (random() < 0.5 ? 1 : 0.2));
      const meters = haversineMeters(
        fleet.center.latitude,
        fleet.center.longitude,
        positions[0]!.latitude,
        positions[0]!.longitude,
      );
      const circle = {
        ...fleet.center,
        radiusMeters: !isAmidst && random() < 0.2 ? meters : 50 * MILE,
        oldestMs: isAmidst || random() < 0.5 ? 0 : random() * TIMES,
        accuracyMetersMax:
          isAmidst || random() < 0.5 ? Number.POSITIVE_INFINITY : Math.floor(random() * ACCURACIES),
        offset,
        limit: random() < 0.5 ? 100 : 1000,
      };
      const { matches, devices, count, isInOrder } = index.find(circle);
      const expected = scan(circle);
      expect({ circle, matches }).toEqual({ circle, matches: expected.length });
      const page = isInOrder ? expected.slice(offset, offset + circle.limit) : [];
      expect([...devices.subarray(0, count)]).toEqual(page);
      if (isReady || fleet.isTied !== true) expect(isInOrder).toBe(true);
      else refusals += Number(!isInOrder);
      for (let move = 0; move < 20; move++) {
        const device = Math.floor(random() * DEVICES);
        const { latitude, longitude } = positions[device]!;
        const kind = random();
        if (kind < 0.4) report(device, { latitude, longitude });
        else if (kind < 0.6) report(device, within(0.01, random));
        else report(device, { latitude, longitude: longitude + (random() - 0.5) * 1e-7 });
      }
    }
    expect(readings > 0).toBe(fleet.isTied === true);
    expect(refusals > 0).toBe(fleet.isTied === true);

    function scan(circle: CircleQuery): number[] {
      const metersOf = new Float64Array(DEVICES);
      const found: number[] = [];
      positions.forEach(({ latitude, longitude, timestampMs, accuracyMeters }, device) => {
        metersOf[device] = haversineMeters(circle.latitude, circle.longitude, latitude, longitude);
        if (metersOf[device]! > circle.radiusMeters || timestampMs < circle.oldestMs) return;
        if (!(accuracyMeters > circle.accuracyMetersMax)) found.push(device);
      });
      return found.sort((a, b) => metersOf[a]! - metersOf[b]! || rankOf[a]! - rankOf[b]!);
    }
  },
);
