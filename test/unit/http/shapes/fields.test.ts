import { describe, expect, test } from "bun:test";
import { createTestApp, type JsonObject, NOON_MS } from "../../../support/test-app.ts";

/** Which fields which answer carries, written out by hand from contract §1 and specification §2.1. */

const DEVICE = 'bus "7"/\\ß\u{1F68C}';
const USER = "driver Ж \u{1F469}\u200D\u2708\uFE0F";

/** Every field a report may have, with values that a careless number or text would change. */
const FULL = {
  device_id: DEVICE,
  user_id: USER,
  timestamp: NOON_MS - 1,
  latitude: 53.447185000000005,
  longitude: -2.9179899999999996,
  horizontal_accuracy: 4.8,
  vertical_accuracy: 1e-7,
  altitude: 12345678.123456789,
  speed: 8.299999999999999,
  bearing: 359.99999999999994,
  battery_level: 0.1,
  type: "MOVING",
  battery_status: "Not Charging",
  network_status: true,
  location_permission: false,
  is_mock: false,
  tracking_mode: "PRECISE",
  tz_offset: "-0330",
  brand: 'Go"ogle',
  model: "Pixel\u00a08",
  os: "android",
  os_version: "15",
  sdk_version: "3.2.1",
  app_version_name: "5.4.0-β",
  app_version_code: "050400",
};

/** The members that every record carries. */
const COMMON = {
  device_id: DEVICE,
  timestamp: NOON_MS - 1,
  latitude: 53.447185000000005,
  longitude: -2.9179899999999996,
  horizontal_accuracy: 4.8,
  altitude: 12345678.123456789,
  speed: 8.299999999999999,
  bearing: 359.99999999999994,
  type: "MOVING",
  battery_level: 0.1,
  battery_status: "Not Charging",
  user_id: USER,
};
const CIRCUMSTANCES = {
  vertical_accuracy: 1e-7,
  network_status: true,
  location_permission: false,
  is_mock: false,
  tracking_mode: "PRECISE",
  tz_offset: "-0330",
};
const MAKE = { brand: 'Go"ogle', model: "Pixel\u00a08", os: "android", os_version: "15" };
const VERSIONS = { sdk_version: "3.2.1", app_version_name: "5.4.0-β", app_version_code: "050400" };
const ID = { id: expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/) };

const CURRENT = { ...COMMON, ...CIRCUMSTANCES, app_id: "fleet" };
const DEVICE_CURRENT = { ...CURRENT, ...ID };
const USER_HISTORY = { ...COMMON, ...CIRCUMSTANCES, ...MAKE, ...ID, appId: "fleet" };
const DEVICE_HISTORY = { ...USER_HISTORY, ...VERSIONS };
const APP_HISTORY = { ...COMMON, ...ID, appId: "fleet" };

const DEVICE_PATH = `/api/v1/devices/${encodeURIComponent(DEVICE)}`;
const USER_PATH = `/api/v1/users/${encodeURIComponent(USER)}`;
const NEARBY_PATH = "/api/v1/devices/nearby?latitude=53.447185&longitude=-2.91799";

const app = await createTestApp();
await app.store([FULL]);

const amount = expect.any(Number);
const DAY = { start: "2026-03-20T00:00:00.000Z", end: "2026-03-20T23:59:59.999Z" };
const INFO = { time_range: DAY, data_scanned_mb: amount, query_time_ms: amount };

async function bodyOf(path: string): Promise<unknown> {
  const { status, body } = await app.get(path);
  expect(status).toBe(200);
  return body;
}

describe("a full report comes back whole", () => {
  test("as a user's current location", async () => {
    expect(await bodyOf(`${USER_PATH}/locations/current`)).toEqual({
      success: true,
      user_id: USER,
      device_count: 1,
      locations: [CURRENT],
    });
  });

  test("in a user's history", async () => {
    expect(await bodyOf(`${USER_PATH}/locations/history`)).toEqual({
      user_id: USER,
      locations: [USER_HISTORY],
      pagination: { count: 1, has_more: false, total_estimated: 1, offset: 0, limit: 100 },
      query_info: { ...INFO, source: "hot" },
    });
  });

  test("in a user's list of devices", async () => {
    expect(await bodyOf(`${USER_PATH}/devices`)).toEqual({
      user_id: USER,
      device_count: 1,
      devices: [
        {
          device_id: DEVICE,
          last_seen: NOON_MS - 1,
          last_location: {
            latitude: 53.447185000000005,
            longitude: -2.9179899999999996,
            timestamp: NOON_MS - 1,
          },
          battery_level: 0.1,
          battery_status: "Not Charging",
          network_status: true,
          model: "Pixel\u00a08",
          os_version: "15",
        },
      ],
    });
  });

  test("as a device's current location", async () => {
    expect(await bodyOf(`${DEVICE_PATH}/locations/current`)).toEqual({
      success: true,
      device_id: DEVICE,
      location: DEVICE_CURRENT,
    });
  });

  test("in a device's history", async () => {
    expect(await bodyOf(`${DEVICE_PATH}/locations/history`)).toEqual({
      success: true,
      device_id: DEVICE,
      locations: [DEVICE_HISTORY],
      pagination: { count: 1, has_more: false },
      query_info: INFO,
    });
  });

  test("among the app's current locations", async () => {
    expect(await bodyOf("/api/v1/locations/current")).toEqual({
      success: true,
      app_id: "fleet",
      locations: [CURRENT],
      pagination: { count: 1, has_more: false, total_count: 1, offset: 0, limit: 100 },
    });
  });

  test("in the app's history", async () => {
    expect(await bodyOf("/api/v1/locations/history")).toEqual({
      success: true,
      app_id: "fleet",
      locations: [APP_HISTORY],
      pagination: { count: 1, has_more: false, total_devices: 1 },
      query_info: { ...INFO, devices_queried: 1 },
    });
  });

  test("near a point", async () => {
    expect(await bodyOf(NEARBY_PATH)).toEqual({
      success: true,
      app_id: "fleet",
      search_criteria: {
        center: { latitude: 53.447185, longitude: -2.91799 },
        radius_miles: 5,
        max_age_hours: 24,
      },
      results: [{ device_id: DEVICE, distance_miles: 0, bearing_degrees: amount, location: CURRENT }],
      pagination: { count: 1, has_more: false, offset: 0, limit: 100, total_matches: 1 },
      total_candidates: amount,
      query_time_ms: amount,
    });
  });
});

test("a zone adds local_time to each record, and nothing else", async () => {
  const local = { local_time: "2026-03-20T12:59:59.999+01:00" };
  const zone = "timezone=Europe/Berlin";
  const first = async (path: string) => {
    const { body } = await app.get(path);
    return body.location ?? body.locations?.[0] ?? body.results[0]?.location;
  };
  expect(await first(`${USER_PATH}/locations/current?${zone}`)).toEqual({ ...CURRENT, ...local });
  expect(await first(`${USER_PATH}/locations/history?${zone}`)).toEqual({ ...USER_HISTORY, ...local });
  expect(await first(`${DEVICE_PATH}/locations/current?${zone}`)).toEqual({ ...DEVICE_CURRENT, ...local });
  expect(await first(`${DEVICE_PATH}/locations/history?${zone}`)).toEqual({ ...DEVICE_HISTORY, ...local });
  expect(await first(`/api/v1/locations/current?${zone}`)).toEqual({ ...CURRENT, ...local });
  expect(await first(`/api/v1/locations/history?${zone}`)).toEqual({ ...APP_HISTORY, ...local });
  expect(await first(`${NEARBY_PATH}&${zone}`)).toEqual({ ...CURRENT, ...local });
});

/** The record of each answer for one device and user, by answer. */
async function everyRecord(own: Awaited<ReturnType<typeof createTestApp>>, device: string, user: string) {
  const at = (path: string) => own.get(path).then(({ body }) => body);
  return {
    userCurrent: (await at(`/api/v1/users/${user}/locations/current`)).locations[0],
    userHistory: (await at(`/api/v1/users/${user}/locations/history`)).locations[0],
    deviceCurrent: (await at(`/api/v1/devices/${device}/locations/current`)).location,
    deviceHistory: (await at(`/api/v1/devices/${device}/locations/history`)).locations[0],
    appCurrent: (await at("/api/v1/locations/current")).locations[0],
    appHistory: (await at("/api/v1/locations/history")).locations[0],
    nearby: (await at("/api/v1/devices/nearby?latitude=0&longitude=0")).results[0]?.location,
    summary: (await at(`/api/v1/users/${user}/devices`)).devices[0],
  };
}

test.each([
  ["left out", {}],
  ["sent as null", Object.fromEntries(Object.keys(FULL).map((name) => [name, null]))],
  ["sent under names that are not theirs", { id: "x", app_id: "x", appId: "x", local_time: "x", foo: [1] }],
])("fields %s stay out of every answer", async (_how, rest) => {
  const own = await createTestApp();
  const required = { device_id: "d", user_id: "u", timestamp: NOON_MS, latitude: 0, longitude: 0 };
  await own.store([{ ...rest, ...required }]);
  expect(await everyRecord(own, "d", "u")).toEqual({
    userCurrent: { ...required, app_id: "fleet" },
    userHistory: { ...required, ...ID, appId: "fleet" },
    deviceCurrent: { ...required, ...ID, app_id: "fleet" },
    deviceHistory: { ...required, ...ID, appId: "fleet" },
    appCurrent: { ...required, app_id: "fleet" },
    appHistory: { ...required, ...ID, appId: "fleet" },
    nearby: { ...required, app_id: "fleet" },
    summary: {
      device_id: "d",
      last_seen: NOON_MS,
      last_location: { latitude: 0, longitude: 0, timestamp: NOON_MS },
    },
  });
});

test("empty texts, zeros and false are values, and come back", async () => {
  const own = await createTestApp();
  const empty = {
    ...{ horizontal_accuracy: 0, vertical_accuracy: 0, altitude: 0, speed: 0, bearing: 0, battery_level: 0 },
    ...{ type: "", battery_status: "", tracking_mode: "", brand: "", model: "", os: "", os_version: "" },
    ...{ sdk_version: "", app_version_name: "", app_version_code: "" },
    ...{ network_status: false, location_permission: false, is_mock: false },
  };
  await own.store([
    { device_id: "d", user_id: "u", timestamp: NOON_MS, latitude: 0, longitude: 0, ...empty },
  ]);
  const { deviceHistory, summary } = await everyRecord(own, "d", "u");
  expect(deviceHistory).toMatchObject(empty);
  expect(summary).toMatchObject({
    battery_level: 0,
    battery_status: "",
    network_status: false,
    model: "",
    os_version: "",
  });
});

test("numbers come back as they were sent, digit for digit", async () => {
  const own = await createTestApp();
  const altitudes = [
    0.1,
    4.8,
    1e-7,
    -1e-7,
    5e-324,
    1 / 3,
    0.1 + 0.2,
    19.999999999999996,
    -19999.999999999996,
  ];
  altitudes.push(1e-6, 123456.789012, 99999999.99999999, 1e8, 2 ** 53 / 1e9, 4.35, 8.41, 1.005, 1e-300, -0.5);
  await own.store(
    altitudes.map((altitude, i) => ({
      device_id: "d",
      timestamp: NOON_MS - 1000 + i,
      latitude: 89.99999999999999,
      longitude: -179.99999999999997,
      altitude,
    })),
  );
  const { body } = await own.get("/api/v1/devices/d/locations/history");
  expect(body.locations.map((record) => record.altitude)).toEqual(altitudes);
  for (const { latitude, longitude } of body.locations as readonly JsonObject[]) {
    expect([latitude, longitude]).toEqual([89.99999999999999, -179.99999999999997]);
  }
});
