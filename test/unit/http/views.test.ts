import { beforeAll, expect, test } from "bun:test";
import { View } from "../../../src/auth/view.ts";
import { placeOf } from "../../../src/http/shapes/place.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import { createTestApp, NOON_MS, type TestApp, VIEWS_FROM_MS, VIEWS_MS } from "../../support/test-app.ts";
import { loadTestPlaces } from "../../support/test-places.ts";
import { READ_PATHS } from "./requests.ts";

/** What keys with the permission `view` are shown: of one device, from an instant on, blurred or not. */

const BUS = {
  device_id: "bus",
  user_id: "driver",
  timestamp: NOON_MS - 12_345,
  latitude: 53.4471849,
  longitude: -2.9179912,
  horizontal_accuracy: 4.8,
  altitude: 19.5,
  speed: 8.3,
  bearing: 58,
  battery_level: 81,
  network_status: true,
  brand: "Fairphone",
};
const EXACT = {
  device_id: "bus",
  timestamp: BUS.timestamp,
  latitude: BUS.latitude,
  longitude: BUS.longitude,
  horizontal_accuracy: 4.8,
  altitude: 19.5,
  speed: 8.3,
  bearing: 58,
};
const BLURRED = { device_id: "bus", timestamp: NOON_MS - 60_000, latitude: 53.449163, longitude: -2.914491 };

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  await app.store([BUS, { ...BUS, device_id: "tram" }, { ...BUS, device_id: "Bus" }]);
});

test("a view shows where its devices are, and of their records what says so", async () => {
  const { status, body } = await app.get(READ_PATHS.appCurrent, "viewer");
  expect(status).toBe(200);
  expect(body.locations).toEqual([EXACT]);
  expect(body.pagination).toEqual({ count: 1, has_more: false, total_count: 1, offset: 0, limit: 100 });
  expect((await app.get(READ_PATHS.deviceCurrent, "viewer")).body.location).toEqual(EXACT);
});

test("a blurred view shows the center of a cell and a whole minute", async () => {
  expect((await app.get(READ_PATHS.appCurrent, "blurredViewer")).body.locations).toEqual([BLURRED]);
  const { body } = await app.get(`${READ_PATHS.deviceCurrent}?timezone=UTC`, "blurredViewer");
  expect(body.location).toEqual({ ...BLURRED, local_time: "2026-03-20T11:59:00.000+00:00" });
});

test("a blurred view names the place that the center of the cell is near, and not the device itself", async () => {
  const places = await loadTestPlaces();
  // Of all tenths of a degree in Britain, the first whose cell's center is near another place than itself.
  const onBorder = Array.from({ length: 400 }, (_, index) => ({
    ...BUS,
    timestamp: NOON_MS + index,
    latitude: 51 + (index % 20) / 10,
    longitude: -3 + Math.floor(index / 20) / 10,
  }));
  const view = new View({ deviceIds: ["bus" as DeviceId], notBeforeMs: 0, precisionMeters: 500 });
  const report = onBorder.find(({ latitude, longitude }) => {
    const center = view.pointOf(latitude, longitude);
    const shown = places.nearest(center.latitude, center.longitude);
    return shown!.name !== places.nearest(latitude, longitude)!.name;
  })!;
  const bordering = await createTestApp();
  await bordering.store([report]);
  const { body } = await bordering.get(`${READ_PATHS.appCurrent}?places=true`, "blurredViewer");
  const [location] = body.locations as unknown as [{ latitude: number; longitude: number; place: unknown }];
  expect(location.latitude).not.toBe(report.latitude);
  const expected = placeOf(places, location.latitude, location.longitude);
  expect(location.place).toEqual(expected);
  expect(expected!.name).not.toBe(placeOf(places, report.latitude, report.longitude)!.name);
  const single = await bordering.get(`${READ_PATHS.deviceCurrent}?places=true`, "blurredViewer");
  expect(single.body.location).toEqual(location as never);
  expect(
    (await bordering.get(`${READ_PATHS.appCurrent}?places=true`, "viewer")).body.locations,
  ).toMatchObject([
    { latitude: report.latitude, place: placeOf(places, report.latitude, report.longitude) },
  ] as never);
});

test("devices of others are not there for a view, as if they never were", async () => {
  const ask = async (id: string) => {
    const { status, body } = await app.get(`/api/v1/devices/${id}/locations/current`, "viewer");
    return { status, text: JSON.stringify(body).replaceAll(id, "ID") };
  };
  const unknown = await ask("unknown");
  expect(unknown.status).toBe(404);
  expect([await ask("tram"), await ask("Bus")]).toEqual([unknown, unknown]);
});

test("pages of a view count what it shows", async () => {
  const { body } = await app.get(`${READ_PATHS.appCurrent}?offset=1&limit=1`, "viewer");
  expect(body.locations).toEqual([]);
  expect(body.pagination).toEqual({ count: 0, has_more: false, total_count: 1, offset: 1, limit: 1 });
});

test("bounds of a blurred view are bounds of the minute that it shows, and tell no more", async () => {
  const shows = async (query: string) =>
    (await app.get(`${READ_PATHS.appCurrent}?${query}`, "blurredViewer")).body.locations.length === 1;
  const minuteMs = BLURRED.timestamp;
  for (const timeMs of [
    minuteMs - 1,
    minuteMs,
    minuteMs + 1,
    BUS.timestamp,
    BUS.timestamp + 1,
    minuteMs + 60_000,
  ]) {
    expect([timeMs, await shows(`timestamp_after=${timeMs}`)]).toEqual([timeMs, timeMs < minuteMs]);
    expect([timeMs, await shows(`timestamp_before=${timeMs}`)]).toEqual([timeMs, timeMs > minuteMs]);
  }
});

test.each(["viewer", "blurredViewer"] as const)("a %s is shown nothing from before its view", async (key) => {
  const early = await createTestApp();
  await early.store([{ ...BUS, timestamp: VIEWS_FROM_MS - 1 }]);
  expect((await early.get(READ_PATHS.appCurrent, key)).body.locations).toEqual([]);
  expect((await early.get(READ_PATHS.deviceCurrent, key)).status).toBe(404);
  await early.store([{ ...BUS, timestamp: VIEWS_FROM_MS }]);
  expect((await early.get(READ_PATHS.appCurrent, key)).body.locations).toHaveLength(1);
  expect((await early.get(READ_PATHS.deviceCurrent, key)).status).toBe(200);
});

test("a view ends with its key", async () => {
  const aging = await createTestApp();
  aging.clock.advance(VIEWS_MS - 1);
  expect((await aging.get(READ_PATHS.appCurrent, "viewer")).status).toBe(200);
  aging.clock.advance(1);
  expect((await aging.get(READ_PATHS.appCurrent, "viewer")).status).toBe(401);
});
