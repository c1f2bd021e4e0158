import { expect, test } from "bun:test";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { mercatorX, mercatorY } from "../../../../src/map/mercator.ts";
import { Tile } from "../../../../src/map/tile.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../../src/model/time/retention.ts";
import { createDrawCurrent, type TileBytes } from "../../../../src/service/queries/current-tile.ts";
import * as fc from "../../../support/fast-check.ts";
import { randomRuns } from "../../../support/random-runs.ts";
import { APP, batchOf, type Report } from "../../../support/reports/batches.ts";
import { crowdedPlace } from "../../../support/reports/crowded-places.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

const NOW_MS = Date.UTC(2026, 2, 20, 12);
const EXTENT = 4096;
const BUFFER = 64;

interface Seen extends Report {
  readonly device_id: string;
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed?: number;
}

function storeOf(reports: readonly Report[]) {
  const scheduler = new Scheduler();
  const hot = createHotStore(scheduler);
  hot.apply(APP, batchOf(reports), 1);
  const draw = createDrawCurrent({
    hot,
    clock: createManualClock(NOW_MS),
    retention: DEFAULT_RETENTION,
    scheduler,
  });
  return async (z: number, x: number, y: number) =>
    pointsOf(await draw(APP, new Tile(z, x, y), null, { signal: new AbortController().signal }));
}

type Point = Readonly<Record<string, unknown>>;

function pointsOf(bytes: TileBytes): Point[] {
  if (bytes === null) return [];
  const layer = new VectorTile(new PbfReader(bytes)).layers.current!;
  return Array.from({ length: layer.length }, (_, index) => {
    const feature = layer.feature(index);
    const { x, y } = feature.loadGeometry()[0]![0]!;
    return { x, y, ...feature.properties };
  });
}

/** The obvious way: every device in every one of three worlds, joined by cells of so many units. */
function drawPlainly(reports: readonly Seen[], z: number, tileX: number, tileY: number, cellUnits: number) {
  const cells = new Map<string, Point & { readonly timestamp: number; readonly device_id: string }>();
  for (const { device_id, timestamp, latitude, longitude, speed } of reports) {
    for (const world of [-1, 0, 1]) {
      const x = Math.floor(((mercatorX(longitude) + world) * 2 ** z - tileX) * EXTENT);
      // What lies on the southern edge of the map is in the last unit above it.
      const last = (2 ** z - tileY) * EXTENT - 1;
      const y = Math.min(last, Math.floor((mercatorY(latitude) * 2 ** z - tileY) * EXTENT));
      if (Math.min(x, y) < -BUFFER || Math.max(x, y) >= EXTENT + BUFFER) continue;
      const cell = `${Math.floor(x / cellUnits)},${Math.floor(y / cellUnits)}`;
      const other = cells.get(cell);
      const count = Number(other?.count ?? 0) + 1;
      const isNewer =
        other === undefined ||
        timestamp > other.timestamp ||
        (timestamp === other.timestamp && device_id < other.device_id);
      const known = speed === undefined ? {} : { speed };
      cells.set(cell, isNewer ? { x, y, device_id, timestamp, ...known, count } : { ...other, count });
    }
  }
  return [...cells.values()];
}

const byDevice = (points: readonly Point[]) =>
  [...points].sort((a, b) => (`${a.device_id} ${a.x}` < `${b.device_id} ${b.x}` ? -1 : 1));

const report = fc.record({
  place: crowdedPlace,
  ageMs: fc.nat(3),
  speed: fc.constantFrom(undefined, 0, 12.5),
});
const fleet = fc.array(report, { minLength: 1, maxLength: 400, size: "max" }).map((all) =>
  all.map(
    ({ place, ageMs, speed }, index): Seen => ({
      device_id: `d${index}`,
      timestamp: NOW_MS - ageMs,
      ...place,
      ...(speed === undefined ? {} : { speed }),
    }),
  ),
);

test("a tile has every device that is in it or near its border, as a look at all of them finds", async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(fleet, fc.nat(16), fc.nat(), fc.boolean(), async (reports, z, pick, isNext) => {
      const draw = storeOf(reports);
      // The tile of one of them, or the one beside that.
      const { latitude, longitude } = reports[pick % reports.length]!;
      const last = 2 ** z - 1;
      const x = Math.min(last, Math.floor(mercatorX(longitude) * 2 ** z)) ^ (isNext && z > 0 ? 1 : 0);
      const y = Math.min(last, Math.floor(mercatorY(latitude) * 2 ** z));
      const points = await draw(z, x, y);
      expect(byDevice(points)).toEqual(byDevice(drawPlainly(reports, z, x, y, 4)));
      found += points.length;
    }),
    { numRuns: 150 },
  );
  expect(found).toBeGreaterThan(randomRuns(500));
});

test("dots near a border are in both tiles, across ±180° too", async () => {
  const draw = storeOf([
    { device_id: "west", timestamp: NOW_MS, latitude: 0, longitude: -179.999 },
    { device_id: "east", timestamp: NOW_MS, latitude: 0, longitude: 179.999 },
    { device_id: "edge", timestamp: NOW_MS, latitude: 40, longitude: 180 },
  ]);
  const idsOf = async (x: number, y: number) =>
    (await draw(4, x, y)).map(({ device_id }) => device_id).sort();
  expect(await idsOf(0, 8)).toEqual(["east", "west"]);
  expect(await idsOf(15, 8)).toEqual(["east", "west"]);
  expect(await idsOf(15, 7)).toEqual(["east", "west"]);
  expect(await idsOf(0, 6)).toEqual(["edge"]);
  expect(await idsOf(15, 6)).toEqual(["edge"]);
  expect(await idsOf(8, 8)).toEqual([]);
});

test("what is beyond the map lies at its edge", async () => {
  const draw = storeOf([
    { device_id: "pole", timestamp: NOW_MS, latitude: 90, longitude: 10 },
    { device_id: "south", timestamp: NOW_MS, latitude: -89, longitude: 10 },
  ]);
  const points = await draw(0, 0, 0);
  expect(byDevice(points).map(({ device_id, y }) => [device_id, y])).toEqual([
    ["pole", 0],
    ["south", EXTENT - 1],
  ]);
});

test("a tile of more than 5,000 dots has fewer, larger cells, and their counts add up", async () => {
  const random = seededRandom(3);
  const reports = Array.from({ length: 40_000 }, (_, index) => ({
    device_id: `d${index}`,
    timestamp: NOW_MS - index,
    latitude: 42 + random() / 2,
    longitude: -71 + random() / 2,
  }));
  const draw = storeOf(reports);
  const [z, x, y] = [8, 77, 94] as const;
  const points = await draw(z, x, y);
  expect(points.length).toBeWithin(1000, 5001);
  const cellUnits = [8, 16, 32, 64].find((units) => drawPlainly(reports, z, x, y, units).length <= 5000)!;
  expect(byDevice(points)).toEqual(byDevice(drawPlainly(reports, z, x, y, cellUnits)));
});

test("neighbours agree about the dots that both show", async () => {
  const random = seededRandom(5);
  const reports = Array.from({ length: 3000 }, (_, index) => ({
    device_id: `d${index}`,
    timestamp: NOW_MS - index,
    latitude: 42 + random() / 8,
    longitude: -71 + random() / 8,
  }));
  const draw = storeOf(reports);
  const z = 12;
  const [x, y] = [1240, Math.floor(mercatorY(42.06) * 2 ** z)];
  const shared = (points: readonly Point[], from: number) =>
    byDevice(
      points
        .map((point) => ({ ...point, x: Number(point.x) - from }))
        .filter((point) => point.x >= -BUFFER && point.x < BUFFER),
    );
  const [left, right] = [await draw(z, x, y), await draw(z, x + 1, y)];
  expect(shared(left, EXTENT).length).toBeGreaterThan(5);
  expect(shared(left, EXTENT)).toEqual(shared(right, 0));
});

test("the counts of the points inside all tiles of a zoom add up to the number of devices", async () => {
  await fc.assert(
    fc.asyncProperty(fleet, fc.nat(3), async (reports, z) => {
      const draw = storeOf(reports);
      let devices = 0;
      for (let x = 0; x < 2 ** z; x++) {
        for (let y = 0; y < 2 ** z; y++) {
          for (const point of await draw(z, x, y)) {
            const [unitX, unitY] = [Number(point.x), Number(point.y)];
            const isInside = Math.min(unitX, unitY) >= 0 && Math.max(unitX, unitY) < EXTENT;
            if (isInside) devices += Number(point.count);
          }
        }
      }
      expect(devices).toBe(reports.length);
    }),
    { numRuns: 30 },
  );
});

test("a device past the retention is in no tile", async () => {
  const old = NOW_MS - 366 * 86_400_000;
  const draw = storeOf([{ device_id: "old", timestamp: old, latitude: 1, longitude: 1 }]);
  expect(await draw(0, 0, 0)).toEqual([]);
});
