import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Land } from "../../../../src/cli/demo/land.ts";
import { timeOf } from "../../../../src/cli/demo/recording.ts";
import { destination, prolong } from "../../../../src/cli/demo/voyages.ts";
import { type BaseMap, openBaseMap } from "../../../../src/map/base-map.ts";
import { haversineMeters, initialBearingDegrees } from "../../../../src/model/geo/distance.ts";
import { numberIndex } from "../../../../src/model/location-fields.ts";
import { createNodeInputs } from "../../../../src/runtime/node-inputs.ts";
import * as fc from "../../../support/fast-check.ts";
import { recordingOf } from "./recordings.ts";

const HOUR_MS = 3_600_000;
const SEA = { holds: async () => false };
const ship = { deviceId: "ship", timestampMs: 0, latitude: 56, longitude: 11, speed: 5, bearing: 0 };

/** Times and latitudes of the only track. */
async function voyageOf(row: typeof ship, land: Pick<Land, "holds"> = SEA) {
  const { tracks, startMs, endMs } = await prolong(await recordingOf([row]), land);
  const positions = tracks[0]!.positions.map((position) => ({
    atMs: timeOf(position),
    latitude: position.batch.numbers[numberIndex("latitude")]![position.row]!,
    speed: position.batch.numbers[numberIndex("speed")]![position.row]!,
  }));
  return { positions, startMs, endMs };
}

describe("prolong()", () => {
  test("gives a ship an hour before and after, at its speed and on its course", async () => {
    const { positions, startMs, endMs } = await voyageOf(ship);
    expect([startMs, endMs]).toEqual([-HOUR_MS, HOUR_MS]);
    expect(positions).toHaveLength(60 + 1 + 120);
    expect(positions.map(({ atMs }) => atMs)).toEqual(
      positions.map(({ atMs }) => atMs).sort((a, b) => a - b),
    );
    const [first, last] = [positions[0]!, positions.at(-1)!];
    expect([first.atMs, last.atMs]).toEqual([-HOUR_MS, HOUR_MS]);
    expect(haversineMeters(first.latitude, 11, last.latitude, 11)).toBeCloseTo(5 * 7200, 3);
    expect(new Set(positions.map(({ speed }) => speed))).toEqual(new Set([5]));
  });

  test("turns a ship around before a coast", async () => {
    const north = { holds: async ({ latitude }: { latitude: number }) => latitude > 56.05 };
    const { positions } = await voyageOf(ship, north);
    const furthest = positions.at(-1)!.latitude;
    expect(furthest).toBeLessThan(56.05);
    expect(haversineMeters(furthest, 11, 56.05, 11)).toBeLessThan(1000 + 5 * 30);
    expect(positions[0]!.atMs).toBe(-HOUR_MS);
  });

  test("has a ship at anchor where it was an hour before", async () => {
    const { positions } = await voyageOf({ ...ship, speed: 0.1 });
    expect(positions).toMatchObject([
      { atMs: -HOUR_MS, latitude: 56 },
      { atMs: 0, latitude: 56 },
    ]);
  });
});

test("destination() lies at the distance and in the direction that were given", () => {
  const position = {
    latitude: fc.double({ min: -85, max: 85, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  };
  const bearings = fc.double({ min: 0, max: 359, noNaN: true });
  fc.assert(
    fc.property(
      fc.record(position),
      bearings,
      fc.integer({ min: 10, max: 100_000 }),
      (from, bearing, meters) => {
        const to = destination(from, bearing, meters);
        expect(Math.abs(to.longitude)).toBeLessThanOrEqual(180);
        const reached = haversineMeters(from.latitude, from.longitude, to.latitude, to.longitude);
        expect(Math.abs(reached - meters)).toBeLessThan(1e-3);
        const course = initialBearingDegrees(from.latitude, from.longitude, to.latitude, to.longitude);
        expect(Math.abs(((course - bearing + 540) % 360) - 180)).toBeLessThan(0.01);
      },
    ),
  );
});

describe("Land", () => {
  let map: BaseMap;
  beforeAll(async () => {
    map = await openBaseMap(createNodeInputs(), null);
  });
  afterAll(() => map.close());

  test.each([
    ["Jutland", 56.2, 9.2, true],
    ["Kattegat", 56.9, 11.3, false],
    ["Liverpool", 53.4, -2.9, true],
    ["the Irish Sea", 53.8, -5, false],
    ["Russia beyond 180°", 66.5, -179, true],
    ["the Caspian Sea", 42, 51, false],
    ["the South Pole", -85, 0, true],
  ])("knows %s", async (_name, latitude, longitude, isLand) => {
    expect(await new Land(map.world).holds({ latitude, longitude })).toBe(isLand);
  });
});
