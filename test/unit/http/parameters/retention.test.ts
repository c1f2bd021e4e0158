import { describe, expect, test } from "bun:test";
import { createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import { READ_PATHS } from "../requests.ts";

/** Contract §3: what lies before the start of the UTC day 365 days ago is gone; §4: nor is it taken in. */

const START_MS = Date.UTC(2025, 2, 20); // 365 days before 20 March 2026.
const DAY_MS = 86_400_000;
const AT = { latitude: 53.4, longitude: -2.9, user_id: "driver" };

test("reports are taken from the first instant of the retention on", async () => {
  const app = await createTestApp();
  const { body } = await app.post([
    { device_id: "bus", timestamp: START_MS - 1, ...AT },
    { device_id: "bus", timestamp: START_MS, ...AT },
    { device_id: "bus", timestamp: Date.UTC(1980, 0, 1), ...AT },
    { device_id: "bus", timestamp: -1, ...AT },
    { device_id: "bus", timestamp: 0, ...AT },
  ]);
  const message = "timestamp must not be before 2025-03-20T00:00:00.000Z, the start of the retention";
  expect(body as unknown).toEqual({
    success: true,
    accepted: 1,
    duplicates: 0,
    rejected: [0, 2, 3, 4].map((index) => ({ index, device_id: "bus", message })),
    sequence: 1,
  });
});

test("reports are taken up to 10 minutes ahead", async () => {
  const app = await createTestApp();
  const { body } = await app.post([
    { device_id: "bus", timestamp: NOON_MS + 600_000, ...AT },
    { device_id: "bus", timestamp: NOON_MS + 600_001, ...AT },
    { device_id: "bus", timestamp: 9_007_199_254_740_991, ...AT },
  ]);
  const message = "timestamp must not be more than 10 minutes in the future";
  expect(body as unknown).toEqual({
    success: true,
    accepted: 1,
    duplicates: 0,
    rejected: [1, 2].map((index) => ({ index, device_id: "bus", message })),
    sequence: 1,
  });
  expect((await app.get(READ_PATHS.deviceCurrent)).body.location.timestamp).toBe(NOON_MS + 600_000);
});

/** What each answer shows, in few words. */
async function shown(app: TestApp, dates: string) {
  const at = async (path: string) => (await app.get(path)).body;
  const times = (body: Awaited<ReturnType<typeof at>>) =>
    body.locations.map((record) => (record.timestamp as number) - START_MS);
  const deviceCurrent = await app.get(READ_PATHS.deviceCurrent);
  const deviceHistory = await app.get(`${READ_PATHS.deviceHistory}?${dates}`);
  const appCurrent = await at(READ_PATHS.appCurrent);
  const appHistory = await at(`${READ_PATHS.appHistory}?${dates}`);
  const nearby = await at(`${READ_PATHS.nearby}&max_age_hours=99999`);
  return {
    deviceCurrent: deviceCurrent.status,
    deviceHistory: [deviceHistory.status, ...times(deviceHistory.body)],
    userCurrent: times(await at(READ_PATHS.userCurrent)),
    userHistory: times(await at(`${READ_PATHS.userHistory}?${dates}`)),
    userDevices: (await at(READ_PATHS.userDevices)).devices.length,
    appCurrent: [appCurrent.pagination.total_count, ...times(appCurrent)],
    appHistory: [
      appHistory.pagination.total_devices,
      appHistory.query_info.devices_queried,
      ...times(appHistory),
    ],
    nearby: nearby.pagination.total_matches,
  };
}

describe("as time passes", () => {
  const dates = "start_date=2025-03-20&end_date=2025-03-22";
  const nothing = {
    deviceCurrent: 404,
    deviceHistory: [404],
    userCurrent: [],
    userHistory: [],
    userDevices: 0,
    appCurrent: [0],
    appHistory: [0, 0],
    nearby: 0,
  };

  test("a device that was silent for the whole retention is gone at midnight, with its records", async () => {
    const app = await createTestApp();
    await app.store([{ device_id: "bus", timestamp: START_MS, ...AT }]);
    await app.store([{ device_id: "bus", timestamp: START_MS + DAY_MS - 1, ...AT }]);
    const all = {
      deviceCurrent: 200,
      deviceHistory: [200, 0, DAY_MS - 1],
      userCurrent: [DAY_MS - 1],
      userHistory: [0, DAY_MS - 1],
      userDevices: 1,
      appCurrent: [1, DAY_MS - 1],
      appHistory: [1, 1, 0, DAY_MS - 1],
      nearby: 1,
    };
    expect(await shown(app, dates)).toEqual(all);
    app.clock.set(Date.UTC(2026, 2, 21) - 1);
    expect(await shown(app, dates)).toEqual(all);
    app.clock.set(Date.UTC(2026, 2, 21));
    expect(await shown(app, dates)).toEqual(nothing);
    // A clock that jumped ahead can be set back.
    app.clock.set(Date.UTC(2026, 2, 21) - 1);
    expect(await shown(app, dates)).toEqual(all);
  });

  test("a device that reported since keeps what lies within the retention", async () => {
    const app = await createTestApp();
    for (const offset of [0, DAY_MS - 1, DAY_MS, DAY_MS + 1]) {
      await app.store([{ device_id: "bus", timestamp: START_MS + offset, ...AT }]);
    }
    app.clock.set(Date.UTC(2026, 2, 21));
    expect(await shown(app, dates)).toEqual({
      deviceCurrent: 200,
      deviceHistory: [200, DAY_MS, DAY_MS + 1],
      userCurrent: [DAY_MS + 1],
      userHistory: [DAY_MS, DAY_MS + 1],
      userDevices: 1,
      appCurrent: [1, DAY_MS + 1],
      appHistory: [1, 1, DAY_MS, DAY_MS + 1],
      nearby: 1,
    });
    const { body } = await app.get(`${READ_PATHS.deviceHistory}?${dates}&limit=1`);
    expect(body.pagination).toEqual({ count: 1, has_more: true });
  });

  test("a day of a zone that reaches back beyond the retention keeps its later part", async () => {
    const app = await createTestApp();
    await app.store([{ device_id: "bus", timestamp: START_MS, ...AT }]);
    await app.store([{ device_id: "bus", timestamp: START_MS + DAY_MS + 3_600_000, ...AT }]);
    app.clock.set(Date.UTC(2026, 2, 21));
    // 21 March 2025 in Kiribati is 20 March 10:00 UTC to 21 March 10:00 UTC.
    const query = "timezone=Pacific/Kiritimati&start_date=2025-03-21&end_date=2025-03-21";
    const { body } = await app.get(`${READ_PATHS.deviceHistory}?${query}`);
    expect(body.locations.map((record) => record.timestamp)).toEqual([START_MS + DAY_MS + 3_600_000]);
    expect(body.query_info.time_range.start).toBe("2025-03-20T10:00:00.000Z");
  });
});

test("a range before the retention is no error: nothing is found, and the range is told as it was asked", async () => {
  const app = await createTestApp();
  await app.store([{ device_id: "bus", timestamp: START_MS, ...AT }]);
  for (const path of [READ_PATHS.deviceHistory, READ_PATHS.userHistory, READ_PATHS.appHistory]) {
    const { status, body } = await app.get(`${path}?start_date=2020-01-01&end_date=2020-12-31`);
    expect(status).toBe(200);
    expect(body.locations).toEqual([]);
    expect(body.pagination).toMatchObject({ count: 0, has_more: false });
    expect(body.query_info.time_range).toEqual({
      start: "2020-01-01T00:00:00.000Z",
      end: "2020-12-31T23:59:59.999Z",
    });
    const partly = await app.get(`${path}?start_date=2024-03-21&end_date=2025-03-20`);
    expect(partly.body.locations.map((record) => record.timestamp)).toEqual([START_MS]);
  }
});

test("the distance of a day that is partly gone is that of what is left", async () => {
  const app = await createTestApp();
  const ages = [DAY_MS - 2, DAY_MS, DAY_MS + 3_600_000];
  await app.store(
    ages.map((offset, i) => ({ device_id: "bus", timestamp: START_MS + offset, ...AT, latitude: i })),
  );
  app.clock.set(Date.UTC(2026, 2, 21));
  const query =
    "timezone=Pacific/Kiritimati&start_date=2025-03-21&end_date=2025-03-21&distance_travelled=true";
  const { body } = await app.get(`${READ_PATHS.deviceHistory}?${query}`);
  expect(body.distance_travelled.meters).toBeCloseTo((6_371_008.8 * Math.PI) / 180, 6);
});
