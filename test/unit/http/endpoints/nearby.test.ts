import { describe, expect, test } from "bun:test";
import { type Answer, createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import { METERS_PER_DEGREE, METERS_PER_MILE } from "../requests.ts";

/** `GET /api/v1/devices/nearby`: specification §4.6, contract §3. */

const MILES_PER_DEGREE = METERS_PER_DEGREE / METERS_PER_MILE;
const HOUR_MS = 3_600_000;

async function near(app: TestApp, latitude: number, longitude: number, query = ""): Promise<Answer> {
  return app.get(`/api/v1/devices/nearby?latitude=${latitude}&longitude=${longitude}${query}`);
}

function ids({ body }: Answer): unknown[] {
  return body.results.map((result) => result.device_id);
}

/** An app with devices at these places, stored in an order that says nothing. */
async function appWith(places: Readonly<Record<string, readonly [number, number]>>) {
  const app = await createTestApp();
  const reports = Object.entries(places).map(([device_id, [latitude, longitude]]) => ({
    device_id,
    timestamp: NOON_MS,
    latitude,
    longitude,
  }));
  await app.store(reports.toReversed());
  return app;
}

test("results come nearest first, with distance in miles and bearing from the centre", async () => {
  const app = await appWith({
    east: [0, 0.03],
    here: [0, 0],
    north: [0.01, 0],
    south: [-0.02, 0],
    west: [0, -0.04],
    tooFar: [0, 0.08],
  });
  const { body } = await near(app, 0, 0);
  expect(body.results.map(({ location, ...rest }) => rest as unknown)).toEqual([
    { device_id: "here", distance_miles: 0, bearing_degrees: 0 },
    { device_id: "north", distance_miles: 0.6909, bearing_degrees: 0 },
    { device_id: "south", distance_miles: 1.3819, bearing_degrees: 180 },
    { device_id: "east", distance_miles: 2.0728, bearing_degrees: 90 },
    { device_id: "west", distance_miles: 2.7637, bearing_degrees: 270 },
  ]);
  expect(MILES_PER_DEGREE / 100).toBeCloseTo(0.6909, 4); // One hundredth of a degree, as above.
  for (const { device_id, location } of body.results) expect(location.device_id).toBe(device_id);
});

test("the answer says what was asked, with defaults", async () => {
  const app = await createTestApp();
  expect((await near(app, -0, 180)).body as unknown).toEqual({
    success: true,
    app_id: "fleet",
    search_criteria: { center: { latitude: 0, longitude: 180 }, radius_miles: 5, max_age_hours: 24 },
    results: [],
    pagination: { count: 0, has_more: false, offset: 0, limit: 100, total_matches: 0 },
    total_candidates: 0,
    query_time_ms: expect.any(Number),
  });
  const query = "&radius_miles=0.50&max_age_hours=1.5&limit=7&offset=3&min_accuracy=2";
  expect((await near(app, 53.447185, -2.9, query)).body as unknown).toMatchObject({
    search_criteria: {
      center: { latitude: 53.447185, longitude: -2.9 },
      radius_miles: 0.5,
      max_age_hours: 1.5,
    },
    pagination: { offset: 3, limit: 7 },
  });
});

test("devices at one position tie, and are ordered by the bytes of their ids", async () => {
  const tied = ["10", "9", "B", "a", "\uff21", "\u{1f68c}"];
  const app = await appWith(Object.fromEntries(tied.map((id) => [id, [51.5, -0.1] as const])));
  for (const [latitude, longitude] of [
    [51.5, -0.1],
    [51.501, -0.1003],
    [51.49, -0.13],
  ] as const) {
    const answer = await near(app, latitude, longitude);
    expect(ids(answer)).toEqual(tied);
    expect(new Set(answer.body.results.map((result) => result.distance_miles)).size).toBe(1);
  }
});

test("+180 and -180 are one meridian: devices on it tie", async () => {
  const app = await appWith({ b: [10, 180], a: [10, -180], c: [10, 179.99], d: [10, -179.99] });
  for (const longitude of [180, -180]) {
    const answer = await near(app, 10, longitude);
    expect(ids(answer)).toEqual(["a", "b", "c", "d"]);
    const [a, b, c, d] = answer.body.results;
    expect([a?.distance_miles, b?.distance_miles]).toEqual([0, 0]);
    expect(c?.distance_miles).toBe(d?.distance_miles as number);
    expect([c?.bearing_degrees, d?.bearing_degrees]).toEqual([270, 90]);
  }
  expect(ids(await near(app, 10, 179.95))).toEqual(["c", "a", "b", "d"]);
});

test("around a pole every longitude is near", async () => {
  const app = await appWith({
    a: [89.99, 0],
    b: [89.99, 90],
    c: [89.98, -180],
    pole: [90, 77],
    far: [89, 0],
  });
  expect(ids(await near(app, 90, 0))).toEqual(["pole", "a", "b", "c"]);
  expect(ids(await near(app, 90, -123))).toEqual(["pole", "a", "b", "c"]);
  const across = await near(app, 89.99, 180);
  expect(ids(across)).toEqual(["c", "pole", "b", "a"]);
  expect(across.body.results.map((result) => result.distance_miles)).toEqual([
    0.6909, 0.6909, 0.9771, 1.3819,
  ]);
  const south = await appWith({ pole: [-90, 0], b: [-89.99, 120] });
  expect(ids(await near(south, -90, -180))).toEqual(["pole", "b"]);
});

test("radius 0 finds what is at the point itself", async () => {
  const app = await appWith({
    here: [51.5, -0.1],
    beside: [51.5, -0.1000001],
    dateline: [0, 180],
    pole: [90, 5],
  });
  expect(ids(await near(app, 51.5, -0.1, "&radius_miles=0"))).toEqual(["here"]);
  expect(ids(await near(app, 0, -180, "&radius_miles=0"))).toEqual(["dateline"]);
  expect((await near(app, 51.5, -0.1000002, "&radius_miles=0")).body.pagination.total_matches).toBe(0);
});

test("the radius ends where it says, 50 miles and fractions", async () => {
  const degrees = (miles: number) => miles / MILES_PER_DEGREE;
  const app = await appWith({
    in50: [degrees(49.9999), 0],
    out50: [degrees(50.0001), 0],
    inHalf: [0, degrees(0.49999)],
    outHalf: [0, degrees(0.50001)],
  });
  expect(ids(await near(app, 0, 0, "&radius_miles=50"))).toEqual(["inHalf", "outHalf", "in50"]);
  expect(ids(await near(app, 0, 0, "&radius_miles=0.5"))).toEqual(["inHalf"]);
  expect(ids(await near(app, 0, 0, "&radius_miles=0.49"))).toEqual([]);
  expect(ids(await near(app, 0, 0))).toEqual(["inHalf", "outHalf"]);
});

describe("max_age_hours", () => {
  const ages = {
    future: -60_000,
    now: 0,
    half: HOUR_MS / 2,
    day: 24 * HOUR_MS,
    dayAndOne: 24 * HOUR_MS + 1,
    year: 365 * 24 * HOUR_MS,
  };

  async function createAged() {
    const app = await createTestApp();
    await app.store(
      Object.entries(ages).map(([device_id, ageMs]) => ({
        device_id,
        timestamp: NOON_MS - ageMs,
        latitude: 1,
        longitude: 1,
      })),
    );
    return app;
  }

  test.each([
    ["", ["day", "future", "half", "now"]],
    ["&max_age_hours=24", ["day", "future", "half", "now"]],
    ["&max_age_hours=0", ["future", "now"]],
    ["&max_age_hours=0.5", ["future", "half", "now"]],
    ["&max_age_hours=0.4999", ["future", "now"]],
    ["&max_age_hours=25", ["day", "dayAndOne", "future", "half", "now"]],
    ["&max_age_hours=8760", ["day", "dayAndOne", "future", "half", "now", "year"]],
    ["&max_age_hours=99999999999999999999", ["day", "dayAndOne", "future", "half", "now", "year"]],
  ])("%p decides by the latest fix", async (query, expected) => {
    const answer = await near(await createAged(), 1, 1, query);
    expect(ids(answer)).toEqual(expected);
    expect(answer.body.pagination.total_matches).toBe(expected.length);
  });

  test("ages as the clock moves", async () => {
    const app = await createAged();
    app.clock.advance(HOUR_MS);
    expect(ids(await near(app, 1, 1, "&max_age_hours=1"))).toEqual(["future", "now"]);
  });
});

test("min_accuracy leaves out coarser positions, and keeps those that tell none", async () => {
  const app = await createTestApp();
  await app.store(
    [null, 0, 4.8, 5, 1e7].map((horizontal_accuracy, i) => ({
      device_id: `d${i}`,
      timestamp: NOON_MS,
      latitude: 1,
      longitude: 1,
      horizontal_accuracy,
    })),
  );
  const found = async (bound: string) => ids(await near(app, 1, 1, `&min_accuracy=${bound}`));
  expect(await found("0")).toEqual(["d0", "d1"]);
  expect(await found("4.8")).toEqual(["d0", "d1", "d2"]);
  expect(await found("9999999.5")).toEqual(["d0", "d1", "d2", "d3"]);
  expect(await found("10000000")).toHaveLength(5);
});

test("pages of any size hold each device once; matches are exact, candidates at least as many", async () => {
  const places = Array.from(
    { length: 60 },
    (_, i) => [`d${i}`, [0.001 * (i % 7), 0.0013 * (i % 31)]] as const,
  );
  const app = await appWith({ ...Object.fromEntries(places), corner: [0.07, 0.07], far: [0, 5] });
  const all = ids(await near(app, 0, 0));
  expect(all).toHaveLength(60);
  for (const limit of [1, 7, 30, 59, 60, 61, 1000]) {
    const seen: unknown[] = [];
    for (let offset = 0; ; offset += limit) {
      const answer = await near(app, 0, 0, `&limit=${limit}&offset=${offset}`);
      const count = Math.max(0, Math.min(limit, 60 - offset));
      const has_more = offset + count < 60;
      expect(answer.body.pagination).toEqual({ count, has_more, offset, limit, total_matches: 60 });
      expect(answer.body.total_candidates).toBeGreaterThanOrEqual(60);
      seen.push(...ids(answer));
      if (!has_more) break;
    }
    expect(seen).toEqual(all);
  }
  for (const offset of [60, 61, Number.MAX_SAFE_INTEGER]) {
    const { body } = await near(app, 0, 0, `&offset=${offset}`);
    expect(body.results).toEqual([]);
    expect(body.pagination).toEqual({ count: 0, has_more: false, offset, limit: 100, total_matches: 60 });
  }
});

test("a device is where it was last: it leaves the old place and is found at the new", async () => {
  const app = await appWith({ bus: [1, 1] });
  await app.store([{ device_id: "bus", timestamp: NOON_MS + 1, latitude: 2, longitude: 2 }]);
  await app.store([{ device_id: "bus", timestamp: NOON_MS - 1, latitude: 3, longitude: 3 }]);
  expect([ids(await near(app, 1, 1)), ids(await near(app, 2, 2)), ids(await near(app, 3, 3))]).toEqual([
    [],
    ["bus"],
    [],
  ]);
  await app.store([{ device_id: "bus", timestamp: NOON_MS + 1, latitude: 4, longitude: 4 }]);
  expect([ids(await near(app, 2, 2)), ids(await near(app, 4, 4))]).toEqual([[], ["bus"]]);
});

test("bearings lie from 0 to below 360, distances have 4 decimals and bearings 2", async () => {
  const steps = [1e-13, 1e-9, 1e-6, 1e-5, 1e-4, 0.001, 0.0123456, 0.05];
  const places = steps.flatMap((x, i) => steps.map((y, j) => [`d${i}-${j}`, [50 + y, 8 - x]] as const));
  const app = await appWith(Object.fromEntries(places));
  const { body } = await near(app, 50, 8, "&limit=1000&radius_miles=50");
  expect(body.results).toHaveLength(64);
  for (const { bearing_degrees, distance_miles } of body.results) {
    const bearing = bearing_degrees as number;
    expect(bearing).toBeGreaterThanOrEqual(0);
    expect(bearing).toBeLessThan(360);
    expect(String(bearing)).toMatch(/^\d+(\.\d{1,2})?$/);
    expect(String(distance_miles)).toMatch(/^\d+(\.\d{1,4})?$/);
  }
  // 1e-13 degrees west of due north would round to 360.
  const north = body.results.find((result) => result.device_id === "d0-7");
  expect(north?.bearing_degrees).toBe(0);
});
