import { afterAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { placeOf } from "../../../../../src/http/shapes/place.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import type { Stop } from "../../../../../src/service/queries/stops.ts";
import { createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import * as fc from "../../../../support/fast-check.ts";
import { createTestApp, NOON_MS } from "../../../../support/test-app.ts";
import { loadTestPlaces } from "../../../../support/test-places.ts";
import { verifyDirectory } from "../../../../support/verify-directory.ts";
import { findStops, type Leg, path, paths } from "../../../service/queries/paths.ts";

/** Where a device stopped, and its numbers over time: what both answer, wherever records lie. */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const STOPS = "/api/v1/devices/van/stops";

/** Positions from an instant on, as reports. */
function reportsOf(legs: readonly Leg[], fromMs: number) {
  const positions = path(legs);
  return positions.map(({ timestampMs, latitude, longitude }) => ({
    device_id: "van",
    timestamp: fromMs + timestampMs - positions[0]!.timestampMs,
    latitude,
    longitude,
  }));
}

/** Stands for ten minutes, drives 900 m in a minute and a half, stands for six minutes. */
const ROUND: readonly Leg[] = [
  ...Array.from({ length: 21 }, (_, i): Leg => [30 * i, 0, 0]),
  [630, 300, 0],
  [660, 600, 0],
  [690, 900, 0],
  ...Array.from({ length: 12 }, (_, i): Leg => [720 + 30 * i, 900, 0]),
];
const FROM_MS = NOON_MS - 3_600_000;

test("with places=true each stop names the place that its center is near, and nothing else changes", async () => {
  const app = await createTestApp();
  await app.store(reportsOf(ROUND, FROM_MS));
  const path = `${STOPS}?start=${FROM_MS}&end=${NOON_MS}`;
  const places = await loadTestPlaces();
  const { status, body } = await app.get(`${path}&places=true`);
  expect(status).toBe(200);
  const plain = (await app.get(path)).body as unknown as { stops: readonly Stop[] };
  const placed = plain.stops.map((stop) => ({
    ...stop,
    place: placeOf(places, stop.latitude, stop.longitude),
  }));
  expect(placed.map(({ place }) => place?.name)).toEqual(["Liverpool", "Liverpool"]);
  expect(body as unknown).toEqual({ ...plain, stops: placed });
});

test("a stop at sea is near no place, and many stops name theirs in order", async () => {
  const app = await createTestApp();
  const hours = 40;
  // Stands for half an hour, a degree farther west each hour: from Dublin out to sea.
  const reports = Array.from({ length: hours * 31 }, (_, index) => ({
    device_id: "van",
    timestamp: NOON_MS - hours * 3_600_000 + Math.floor(index / 31) * 3_600_000 + (index % 31) * 60_000,
    latitude: 53.35,
    longitude: -6.26 - Math.floor(index / 31),
  }));
  await app.store(reports.slice(0, 620));
  await app.store(reports.slice(620));
  const { body } = await app.get(`${STOPS}?start=${NOON_MS - 2 * DAY_MS}&end=${NOON_MS}&places=true`);
  const stops = body.stops as unknown as readonly (Stop & { readonly place: unknown })[];
  const places = await loadTestPlaces();
  expect(stops).toHaveLength(hours);
  for (const { latitude, longitude, place } of stops)
    expect(place).toEqual(placeOf(places, latitude, longitude));
  expect(stops[0]!.place).toMatchObject({ country: "IE" });
  expect(stops.at(-1)!.place).toBeNull();
});

test("the stops of a van, to the letter", async () => {
  const app = await createTestApp();
  await app.store(reportsOf(ROUND, FROM_MS));
  const { status, body } = await app.get(`${STOPS}?start=${FROM_MS}&end=${NOON_MS}`);
  expect(status).toBe(200);
  const { distance_meters, ...others } = body;
  expect(Number(distance_meters)).toBeCloseTo(900, 3);
  expect(others as unknown).toEqual({
    success: true,
    device_id: "van",
    moving_seconds: 90,
    stops: [
      { start: FROM_MS, end: FROM_MS + 600_000, latitude: 53.4076, longitude: -2.9822, positions: 21 },
      {
        start: FROM_MS + 690_000,
        end: FROM_MS + 1_050_000,
        latitude: 53.4075992,
        longitude: -2.9686224,
        positions: 13,
      },
    ],
  });
});

test("stops are cut at the range, and a rule of one's own finds others", async () => {
  const app = await createTestApp();
  await app.store(reportsOf(ROUND, FROM_MS));
  const spans = async (query: string) => {
    const { body } = await app.get(`${STOPS}?${query}`);
    return body.stops.map(({ start, end }) => [Number(start) - FROM_MS, Number(end) - FROM_MS]);
  };
  expect(await spans(`start=${FROM_MS + 60_001}&end=${FROM_MS + 570_000}`)).toEqual([[90_000, 540_000]]);
  expect(await spans(`start=${FROM_MS}&end=${NOON_MS}&min_minutes=6.01`)).toEqual([[0, 600_000]]);
  expect(await spans(`start=${FROM_MS}&end=${NOON_MS}&radius_meters=1000`)).toEqual([[0, 1_050_000]]);
});

test.each([
  ["start=1", "end is required"],
  ["end=1", "start is required"],
  ["start=5&end=5", "start must be before end"],
  [`start=1&end=${1 + 31 * DAY_MS + 1}`, "start to end must be at most 31 days"],
  ["start=1&end=2&min_minutes=0.5", "min_minutes must be between 1 and 1440"],
  ["start=1&end=2&radius_meters=10001", "radius_meters must be between 1 and 10000"],
])("stops refuse %s", async (query, message) => {
  const app = await createTestApp();
  await app.store(reportsOf(ROUND, FROM_MS));
  const { status, body } = await app.get(`${STOPS}?${query}`);
  expect([status, body.message]).toEqual([400, message]);
});

test.each([
  [`start=1&end=${1 + 366 * DAY_MS + 1}`, "start to end must be at most 366 days"],
  ["start=1&end=2&buckets=4001", "buckets must be between 1 and 4000"],
  ["start=1&end=2&fields=user_id", expect.stringMatching(/^fields must be of latitude, longitude, /)],
])("a series refuses %s", async (query, message) => {
  const app = await createTestApp();
  await app.store(reportsOf(ROUND, FROM_MS));
  const { status, body } = await app.get(`/api/v1/devices/van/series?${query}`);
  expect([status, body.message]).toEqual([400, message]);
});

test.each(["stops", "series"])("there are no %s of a device that the app doesn't have", async (what) => {
  const app = await createTestApp();
  const { status, body } = await app.get(`/api/v1/devices/van/${what}?start=1&end=2`);
  expect([status, body.success]).toEqual([404, false]);
});

test("the series of a van, to the letter", async () => {
  const app = await createTestApp();
  const at = (seconds: number, numbers: object) => ({
    device_id: "van",
    timestamp: FROM_MS + seconds * 1000,
    latitude: 1,
    longitude: 2,
    ...numbers,
  });
  await app.store([
    at(0, { speed: 3, battery_level: 0.5 }),
    at(9, { speed: 40.5 }),
    at(11, { speed: 8 }),
    at(100, {}),
    at(199, { battery_level: 0.4 }),
  ]);
  const headers = { authorization: `Bearer ${app.keys.full}` };
  const query = `start=${FROM_MS}&end=${FROM_MS + 200_000}&buckets=10&fields=battery_level,speed`;
  const response = await app.fetch(`/api/v1/devices/van/series?${query}`, { headers });
  expect(await response.text()).toBe(
    [
      `{"success":true,"device_id":"van","timestamp":[${FROM_MS + 11_000},${FROM_MS + 100_000},${FROM_MS + 199_000}],`,
      '"battery_level_min":[0.5,null,0.4],"battery_level_max":[0.5,null,0.4],"battery_level_last":[0.5,null,0.4],',
      '"speed_min":[3,null,null],"speed_max":[40.5,null,null],"speed_last":[8,null,null]}',
    ].join(""),
  );
});

test("a range without records has no stops and an empty series", async () => {
  const app = await createTestApp();
  await app.store(reportsOf(ROUND, FROM_MS));
  const { body } = await app.get(`${STOPS}?start=1&end=2`);
  expect([body.stops as unknown, body.distance_meters, body.moving_seconds]).toEqual([[], 0, 0]);
  const series = await app.get("/api/v1/devices/van/series?start=1&end=2");
  expect(series.body as unknown).toEqual({
    success: true,
    device_id: "van",
    timestamp: [],
    speed_min: [],
    speed_max: [],
    speed_last: [],
  });
});

test("a month of very many stops is answered whole", async () => {
  const app = await createTestApp();
  const legs: Leg[] = [];
  for (let stop = 0; stop < 600; stop++) {
    for (const seconds of [0, 60]) legs.push([120 * stop + seconds, 500 * (stop % 7), 500 * (stop % 5)]);
  }
  const reports = reportsOf(legs, NOON_MS - DAY_MS);
  for (let from = 0; from < reports.length; from += 1000) await app.store(reports.slice(from, from + 1000));
  const { body } = await app.get(`${STOPS}?start=${NOON_MS - DAY_MS}&end=${NOON_MS}&min_minutes=1`);
  expect(body.stops).toHaveLength(600);
});

describe("in the archive", () => {
  const NOW_MS = Date.UTC(2026, 0, 28, 12);
  const MIDNIGHT_MS = Date.UTC(2026, 0, 21);

  test("stops and series are what they were in memory, late reports laid over", async () => {
    await fc.assert(
      fc.asyncProperty(paths, fc.array(fc.boolean(), { minLength: 100 }), async (positions, areLate) => {
        const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
        try {
          // Around the midnight between a day that is sealed and one that is not.
          const shiftMs = MIDNIGHT_MS - positions[Math.floor(positions.length / 2)]!.timestampMs;
          const reports = positions.map(({ timestampMs, latitude, longitude }, i) => ({
            device_id: "van",
            timestamp: timestampMs + shiftMs,
            latitude,
            longitude,
            speed: i % 50,
          }));
          await app.store(reports.filter((_, i) => areLate[i] !== true));
          await app.seal();
          const late = reports.filter((_, i) => areLate[i] === true);
          if (late.length > 0) await app.store(late);
          const range = `start=${MIDNIGHT_MS - 10 * DAY_MS}&end=${MIDNIGHT_MS + 10 * DAY_MS}`;
          const { stops, distanceMeters, movingMs } = findStops(
            reports.map(({ timestamp, ...at }) => ({ ...at, timestampMs: timestamp })),
            { durationMsMin: 300_000, radiusMeters: 100 },
          );
          const { body } = await app.get(`${STOPS}?${range}`);
          expect(body.stops as unknown).toEqual(stops);
          expect([body.distance_meters, body.moving_seconds]).toEqual([distanceMeters, movingMs / 1000]);
          const series = await app.get(`/api/v1/devices/van/series?${range}&buckets=1`);
          expect(series.body.speed_max as unknown).toEqual([Math.max(...reports.map(({ speed }) => speed))]);
          expect(series.body.timestamp as unknown).toEqual([reports.at(-1)!.timestamp]);
        } finally {
          await app.close();
        }
      }),
      { numRuns: 12 },
    );
  }, 120_000);

  test("a lost part fails both, and once it is given up both say that they are incomplete", async () => {
    const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
    try {
      await app.store(reportsOf(ROUND, MIDNIGHT_MS - 5 * DAY_MS));
      await app.store(reportsOf(ROUND, MIDNIGHT_MS));
      await app.seal();
      const [day] = [...app.directory.archive.manifest.days.values()];
      rmSync(join(app.dataDir, "archive", day!.parts[0]!.file));
      const range = `start=${MIDNIGHT_MS - 10 * DAY_MS}&end=${MIDNIGHT_MS + DAY_MS}`;
      for (const what of ["stops", "series"]) {
        const { status, body } = await app.get(`/api/v1/devices/van/${what}?${range}`);
        expect([status, body.success]).toEqual([500, false]);
        expect(body.message).toContain("2026-01-16");
      }
      await verifyDirectory(app.dataDir, app.clock, { acknowledge: true });
      const { body } = await app.get(`${STOPS}?${range}`);
      expect([body.incomplete as unknown, body.stops.length]).toEqual([true, 2]);
      const series = await app.get(`/api/v1/devices/van/series?${range}`);
      expect(series.body.incomplete as unknown).toBe(true);
    } finally {
      await app.close();
    }
  });
});
