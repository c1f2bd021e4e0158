import { describe, expect, test } from "bun:test";
import { createTestApp, NOON_MS } from "../../../support/test-app.ts";
import { METERS_PER_DEGREE, METERS_PER_MILE } from "../requests.ts";

/** `distance_travelled`: specification §4.3 and §8, contract §1 (the sphere) and §3 (where it appears). */

const DAY_MS = 86_400_000;
const BUS = "/api/v1/devices/bus/locations/history";
const USER = "/api/v1/users/driver/locations/history";

/** A way along the equator and a meridian, where a degree is the same everywhere; late reports first. */
const WAY = [
  { minute: 4, latitude: 2, longitude: 1, horizontal_accuracy: 5 },
  { minute: 0, latitude: 0, longitude: 0, horizontal_accuracy: 5 },
  { minute: 2, latitude: 0, longitude: 1 },
  { minute: 3, latitude: 1, longitude: 1, horizontal_accuracy: 500 },
  { minute: 1, latitude: 0, longitude: 0.25, horizontal_accuracy: 50 },
];

const app = await createTestApp();
await app.store(
  WAY.map(({ minute, ...rest }) => ({
    device_id: "bus",
    user_id: "driver",
    timestamp: NOON_MS - (9 - minute) * 60_000,
    ...rest,
  })),
);
await app.store([
  { device_id: "tram", user_id: "driver", timestamp: NOON_MS - 2, latitude: 10, longitude: 179.5 },
  { device_id: "tram", user_id: "driver", timestamp: NOON_MS - 1, latitude: 10, longitude: -179.5 },
  { device_id: "parked", user_id: "driver", timestamp: NOON_MS - 3, latitude: 45, longitude: 7 },
  { device_id: "bus", user_id: "driver", timestamp: NOON_MS - DAY_MS, latitude: 80, longitude: 0 },
]);

const BUS_METERS = 3 * METERS_PER_DEGREE;
/** One degree of longitude at latitude 10 is shorter, as the great circle is than the parallel. */
const TRAM_METERS =
  2 * 6_371_008.8 * Math.asin(Math.cos((10 * Math.PI) / 180) * Math.sin((0.5 * Math.PI) / 180));

async function distance(path: string, query: string): Promise<unknown> {
  const { status, body } = await app.get(`${path}?distance_travelled=true&${query}`);
  return status === 200 ? body.distance_travelled : { status, ...body };
}

test("a device's day is the sum of its steps in time order, in meters and miles", async () => {
  const found = await distance(BUS, "");
  expect(found).toEqual({
    meters: expect.closeTo(BUS_METERS, 5),
    miles: expect.closeTo(BUS_METERS / METERS_PER_MILE, 8),
  });
});

test("a user's day sums over devices, and says what each adds", async () => {
  const found = await distance(USER, "");
  expect(found).toEqual({
    meters: expect.closeTo(BUS_METERS + TRAM_METERS, 5),
    miles: expect.closeTo((BUS_METERS + TRAM_METERS) / METERS_PER_MILE, 8),
    by_device: {
      bus: expect.closeTo(BUS_METERS, 5),
      parked: 0,
      tram: expect.closeTo(TRAM_METERS, 5),
    },
  });
});

test("an envelope carries it only where it is asked for", async () => {
  for (const path of [BUS, USER]) {
    for (const query of ["", "?distance_travelled=false"]) {
      expect((await app.get(path + query)).body).not.toHaveProperty("distance_travelled");
    }
  }
  // The app's history has no such parameter.
  const { status, body } = await app.get(
    "/api/v1/locations/history?distance_travelled=true&start_date=2026-03-01",
  );
  expect(status).toBe(200);
  expect(body).not.toHaveProperty("distance_travelled");
});

test("the rest of the envelope stays as it is", async () => {
  for (const path of [BUS, USER]) {
    const plain = (await app.get(path)).body;
    const { distance_travelled, ...rest } = (await app.get(`${path}?distance_travelled=true`)).body;
    const measured = { data_scanned_mb: expect.any(Number), query_time_ms: expect.any(Number) };
    expect(rest as unknown).toEqual({ ...plain, query_info: { ...plain.query_info, ...measured } });
  }
});

test("it is that of the whole day, whatever the page and the order", async () => {
  for (const path of [BUS, USER]) {
    const whole = await distance(path, "");
    for (const query of [
      "limit=1",
      "limit=2&offset=2",
      "offset=1000",
      "order=desc",
      "order=desc&limit=1&offset=3",
    ]) {
      expect(await distance(path, query)).toEqual(whole);
    }
  }
});

test("it leaves out positions that the accuracy filter leaves out", async () => {
  expect(await distance(BUS, "min_accuracy=1000")).toEqual({
    meters: expect.closeTo(BUS_METERS, 5),
    miles: expect.closeTo(BUS_METERS / METERS_PER_MILE, 8),
  });
  // Without the fixes at minute 3 and 1 the corners stay: they lie on the way.
  expect(await distance(BUS, "min_accuracy=5")).toMatchObject({ meters: expect.closeTo(BUS_METERS, 5) });
  // With 4 only the one without an accuracy is left.
  expect(await distance(BUS, "min_accuracy=4")).toEqual({ meters: 0, miles: 0 });
});

test("a detour of a bad fix counts only without the filter", async () => {
  const own = await createTestApp();
  const fix = (i: number, latitude: number, horizontal_accuracy: number) => ({
    device_id: "bus",
    timestamp: NOON_MS + i,
    latitude,
    longitude: 0,
    horizontal_accuracy,
  });
  await own.store([fix(0, 0, 5), fix(1, 30, 900), fix(2, 1, 5)]);
  const meters = async (query: string) =>
    (await own.get(`${BUS}?distance_travelled=true${query}`)).body.distance_travelled.meters;
  expect(await meters("")).toBeCloseTo(59 * METERS_PER_DEGREE, 4);
  expect(await meters("&min_accuracy=100")).toBeCloseTo(METERS_PER_DEGREE, 5);
});

describe("more than a day", () => {
  const message = "distance_travelled is only supported when start_date equals end_date";

  test.each([BUS, USER])("is a 400 of %s", async (path) => {
    const refused = { status: 400, success: false, message };
    expect(await distance(path, "start_date=2026-03-19")).toEqual(refused);
    expect(await distance(path, "end_date=2026-03-21")).toEqual(refused);
    expect(await distance(path, "start_date=2026-01-01&end_date=2026-01-31")).toEqual(refused);
  });

  test("any one day will do, in any zone", async () => {
    expect(await distance(BUS, "start_date=2026-03-19&end_date=2026-03-19")).toEqual({ meters: 0, miles: 0 });
    expect(await distance(BUS, "start_date=2026-03-18&end_date=2026-03-18")).toEqual({ meters: 0, miles: 0 });
    // From noon of the 19th to noon of the 20th, one day with all of its records.
    const whole = await distance(BUS, "timezone=-12:00&start_date=2026-03-19&end_date=2026-03-19");
    expect(whole).toMatchObject({ meters: expect.closeTo(80 * METERS_PER_DEGREE + BUS_METERS, 4) });
  });
});

test("days without records are 0 meters, of no device", async () => {
  const nothing = { meters: 0, miles: 0, by_device: {} };
  expect(await distance(USER, "start_date=2026-03-01&end_date=2026-03-01")).toEqual(nothing);
  expect(await distance("/api/v1/users/nobody/locations/history", "")).toEqual(nothing);
});

test("a user's distance is over the reports made under that user", async () => {
  const own = await createTestApp();
  const fix = (i: number, latitude: number, user_id: string) => ({
    device_id: "bus",
    timestamp: NOON_MS + i,
    latitude,
    longitude: 0,
    user_id,
  });
  await own.store([fix(0, 0, "ann"), fix(1, 10, "bob"), fix(2, 1, "ann"), fix(3, 12, "bob")]);
  const meters = async (user: string) =>
    (await own.get(`/api/v1/users/${user}/locations/history?distance_travelled=true`)).body.distance_travelled
      .meters;
  expect(await meters("ann")).toBeCloseTo(METERS_PER_DEGREE, 5);
  expect(await meters("bob")).toBeCloseTo(2 * METERS_PER_DEGREE, 5);
});

test("by_device takes any id, in order of its bytes", async () => {
  const own = await createTestApp();
  const ids = ["10", "9", "__proto__", "constructor", 'q"', "\uff21", "\u{1f68c}"];
  await own.store(
    ids
      .toReversed()
      .map((device_id) => ({ device_id, user_id: "u", timestamp: NOON_MS, latitude: 0, longitude: 0 })),
  );
  const authorization = `Bearer ${own.keys.full}`;
  const path = "/api/v1/users/u/locations/history?distance_travelled=true";
  const text = await (await own.fetch(path, { headers: { authorization } })).text();
  expect(text).toContain(`"by_device":{${ids.map((id) => `${JSON.stringify(id)}:0`).join(",")}}`);
});
