import { describe, expect, test } from "bun:test";
import { View } from "../../../../../src/auth/view.ts";
import { placeOf } from "../../../../../src/http/shapes/place.ts";
import type { DeviceId } from "../../../../../src/model/ids.ts";
import {
  createTestApp,
  type JsonObject,
  NOON_MS,
  type TestApp,
  VIEWS_FROM_MS,
} from "../../../../support/test-app.ts";
import { loadTestPlaces } from "../../../../support/test-places.ts";

/** Where a device went, as a line. What a line is, `test/unit/service/queries/track` says. */

const HOUR_MS = 3_600_000;
const PATH = "/api/v1/devices/bus/track";
const DAY = `start=${NOON_MS - 12 * HOUR_MS}&end=${NOON_MS + 12 * HOUR_MS}`;

const at = (minutes: number, latitude: number, longitude: number) => ({
  device_id: "bus",
  timestamp: NOON_MS + minutes * 60_000,
  latitude,
  longitude,
});

/** East along the equator, a corner, north; then eleven minutes of silence, and a jump. */
const WAY = [
  at(0, 0, 10),
  at(1, 0.00001, 10.001),
  at(2, 0, 10.002),
  at(3, 0.001, 10.002),
  at(14.1, 0.002, 10.002),
  at(15, 45, 10.002),
];

async function createApp(reports: readonly ReturnType<typeof at>[] = WAY): Promise<TestApp> {
  const app = await createTestApp({ startMs: NOON_MS + HOUR_MS });
  await app.store(reports);
  return app;
}

async function track(app: TestApp, query: string, key: Parameters<TestApp["get"]>[1] = "full") {
  const { status, body } = await app.get(`${PATH}?${query}`, key);
  expect(status).toBe(200);
  return body as JsonObject as JsonObject &
    Record<"gaps" | "timestamp" | "latitude" | "longitude", readonly number[]>;
}

test("a track, to the letter", async () => {
  const app = await createApp();
  const response = await app.fetch(`${PATH}?${DAY}`, {
    headers: { authorization: `Bearer ${app.keys.full}` },
  });
  const times = [0, 2, 3, 14.1, 15].map((minutes) => NOON_MS + minutes * 60_000);
  expect(await response.text()).toBe(
    [
      '{"success":true,"device_id":"bus","total":6,"tolerance_meters":10,"gaps":[3,4],',
      `"timestamp":[${times.join(",")}],"latitude":[0,0,0.001,0.002,45],`,
      '"longitude":[10,10.002,10.002,10.002,10.002]}',
    ].join(""),
  );
});

test("with places=true both ends name the place they are near, and nothing else changes", async () => {
  const bus = [at(0, 53.4175, -2.97794), at(1, 53.43, -2.96), at(9, 53.42, -2.99), at(15, 0, -30)];
  const app = await createApp(bus);
  const start_place = { name: "Liverpool", country: "GB", distance_miles: 0.4781, bearing_degrees: 0 };
  const plain = await track(app, DAY);
  const placed = await track(app, `${DAY}&places=true`);
  expect(placed as JsonObject).toEqual({ ...plain, start_place, end_place: null } as never);
  expect(Object.keys(plain)).not.toContain("start_place");

  const none = await track(app, `start=1&end=2&places=true`);
  expect([none.total as unknown, none.start_place, none.end_place]).toEqual([0, undefined, undefined]);
});

test("the ends of a blurred track are named by the centers of cells", async () => {
  const app = await createApp([at(0, 53.4175, -2.97794), at(1, 53.5, -2.8)]);
  const places = await loadTestPlaces();
  const { latitude, longitude, ...others } = await track(app, `${DAY}&places=true`, "blurredViewer");
  expect(latitude[0]).not.toBe(53.4175);
  expect(others.start_place as unknown).toEqual(placeOf(places, latitude[0]!, longitude[0]!));
  expect(others.end_place as unknown).toEqual(placeOf(places, latitude.at(-1)!, longitude.at(-1)!));
});

test("the range begins with its start and ends before its end", async () => {
  const app = await createApp();
  const between = await track(
    app,
    `start=${NOON_MS + 60_000}&end=${NOON_MS + 3 * 60_000}&tolerance_meters=0`,
  );
  expect([between.total, between.timestamp]).toEqual([2, [NOON_MS + 60_000, NOON_MS + 120_000]]);
  const none = await track(app, `start=${NOON_MS + HOUR_MS}&end=${NOON_MS + HOUR_MS + 1}`);
  expect(none).toMatchObject({ total: 0, gaps: [], timestamp: [], latitude: [], longitude: [] });
});

test("every point that fits is there where the tolerance is 0, and coordinates as they were reported", async () => {
  const odd = [at(0, 12.1234567890123, -71.05), at(1, 12.1234567890123, -71.05), at(2, 12.1234, -180)];
  const { latitude, longitude, gaps } = await track(await createApp(odd), `${DAY}&tolerance_meters=0`);
  expect(latitude).toEqual([12.1234567890123, 12.1234567890123, 12.1234]);
  expect(longitude).toEqual([-71.05, -71.05, -180]);
  expect(gaps).toEqual([2]);
});

test("a box has what is needed to draw the line in it, and the total of the range", async () => {
  const app = await createApp();
  const { total, timestamp, gaps } = await track(app, `${DAY}&bbox=9,0.0005,11,1`);
  expect(total).toBe(6);
  expect(timestamp).toEqual([2, 3, 14.1].map((minutes) => NOON_MS + minutes * 60_000));
  expect(gaps).toEqual([2]);
});

test("a year of more points than a line may have is drawn from its first to its last, and the one peak of its speed is told", async () => {
  const count = 60_000;
  const stepMinutes = (365 * 24 * 60) / count;
  // To and fro, so that every point is a corner.
  const year = Array.from({ length: count }, (_, i) => ({
    ...at((i - count) * stepMinutes, i % 2, i / 1000),
    speed: i === 12_345 ? 99 : 10,
  }));
  const app = await createTestApp({ startMs: NOON_MS + HOUR_MS });
  for (let first = 0; first < count; first += 10_000) await app.store(year.slice(first, first + 10_000));
  const range = `start=${NOON_MS - 365 * 24 * HOUR_MS}&end=${NOON_MS + HOUR_MS}`;
  const line = await track(app, `${range}&tolerance_meters=0`);
  expect(line.total as unknown).toBe(count);
  expect(line.timestamp.length).toBeLessThanOrEqual(50_000);
  for (const end of [0, -1]) {
    const { timestamp, latitude, longitude } = year.at(end)!;
    expect([line.timestamp.at(end), line.latitude.at(end), line.longitude.at(end)]).toEqual([
      timestamp,
      latitude,
      longitude,
    ]);
  }
  const series = await app.get(`/api/v1/devices/bus/series?${range}&fields=speed`);
  const { timestamp, speed_max } = series.body as JsonObject as Record<string, readonly number[]>;
  expect(timestamp!.length).toBeLessThanOrEqual(1200);
  expect(speed_max!.filter((speed) => speed === 99)).toHaveLength(1);
});

test("an entity tag is good until a report changes the track", async () => {
  const app = await createApp();
  const headers = { authorization: `Bearer ${app.keys.full}` };
  const etag = (await app.fetch(`${PATH}?${DAY}`, { headers })).headers.get("etag")!;
  const again = () => app.fetch(`${PATH}?${DAY}`, { headers: { ...headers, "if-none-match": etag } });
  expect((await again()).status).toBe(304);
  await app.store([{ ...at(4, 0, 10), device_id: "tram" }]);
  expect((await again()).status).toBe(304);
  await app.store([at(2.5, 0.0005, 10.3)]);
  expect((await again()).status).toBe(200);
});

test.each([
  ["end=1", "start is required"],
  [`start=${NOON_MS}`, "end is required"],
  [`start=${NOON_MS}&end=${NOON_MS}`, "start must be before end"],
  [`start=${NOON_MS}&end=${NOON_MS + 366 * 24 * HOUR_MS + 1}`, "start to end must be at most 366 days"],
  [`${DAY}&tolerance_meters=-1`, "tolerance_meters must be between 0 and 1000000"],
  [`${DAY}&bbox=1,2,3`, "bbox must be west,south,east,north: four numbers in plain decimals"],
])("%s is refused", async (query, message) => {
  const { status, body } = await (await createApp()).get(`${PATH}?${query}`);
  expect([status, body.message]).toEqual([400, message]);
});

test("an unknown device is not found", async () => {
  const app = await createApp();
  expect((await app.get(`/api/v1/devices/tram/track?${DAY}`)).status).toBe(404);
  expect((await app.get(`${PATH}?${DAY}`, "other")).status).toBe(404);
});

describe("a share link", () => {
  /** To and fro within some hundred meters, a report every ten seconds. */
  const stroll = Array.from({ length: 120 }, (_, i) =>
    at(i / 6, 53.4 + 0.01 * Math.sin(i / 9), -2.9 + 0.01 * Math.cos(i / 7)),
  );

  test("shows its devices alone", async () => {
    const app = await createApp([...stroll, { ...stroll[0]!, device_id: "tram" }]);
    expect((await app.get(`/api/v1/devices/tram/track?${DAY}`, "viewer")).status).toBe(404);
    expect(await track(app, DAY, "viewer")).toEqual(await track(app, DAY));
  });

  test("shows nothing from before its beginning", async () => {
    const [before, after] = [VIEWS_FROM_MS - 1, VIEWS_FROM_MS];
    const app = await createApp([before, after].map((timestamp) => ({ ...at(0, 1, 2), timestamp })));
    const range = `start=${before}&end=${after + 1}`;
    expect((await track(app, range)).timestamp).toEqual([before, after]);
    for (const key of ["viewer", "blurredViewer"] as const) {
      expect(await track(app, range, key)).toMatchObject({ total: 1, timestamp: [after] });
      expect(await track(app, `start=${before}&end=${after}`, key)).toMatchObject({
        total: 0,
        timestamp: [],
      });
    }
  });

  test("that blurs shows centers of cells and whole minutes, each cell once in a row, and no more", async () => {
    const view = new View({ deviceIds: ["bus" as DeviceId], notBeforeMs: 0, precisionMeters: 500 });
    const blurred: (number | undefined)[][] = [];
    for (const { timestamp, latitude, longitude } of stroll) {
      const point = view.pointOf(latitude, longitude);
      const before = blurred.at(-1);
      if (before?.[1] === point.latitude && before[2] === point.longitude) continue;
      blurred.push([view.timeOf(timestamp), point.latitude, point.longitude]);
    }
    const app = await createApp(stroll);
    const all = await track(app, `${DAY}&tolerance_meters=0`, "blurredViewer");
    expect(blurred.length).toBeLessThan(stroll.length / 2);
    expect(all.timestamp.map((ms, i) => [ms, all.latitude[i], all.longitude[i]])).toEqual(blurred);
    expect([all.total, all.gaps]).toEqual([blurred.length, []]);
    const line = await track(app, `${DAY}&tolerance_meters=400`, "blurredViewer");
    const shown = line.timestamp.map((ms, i) => JSON.stringify([ms, line.latitude[i], line.longitude[i]]));
    expect(shown.length).toBeLessThan(blurred.length);
    const known = blurred.map((point) => JSON.stringify(point));
    expect(shown.filter((vertex) => !known.includes(vertex))).toEqual([]);
  });
});
