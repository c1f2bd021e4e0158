import { describe, expect, test } from "bun:test";
import { type Answer, createTestApp, type JsonObject, NOON_MS } from "../../../support/test-app.ts";

/** Order, pages and filters of the three histories: contract §3. */

const AT = { latitude: 53.4, longitude: -2.9, user_id: "driver" };
const DAY_MS = 86_400_000;

/** Ids in the order of their UTF-8 bytes. */
const DEVICES = ["B", "a", "\uff21", "\u{1f68c}"];

/** Yesterday's records, with ties between all devices; in their order, oldest first. */
const YESTERDAY = Array.from({ length: 9 }, (_, i) => i).flatMap((i) =>
  DEVICES.filter((_, d) => (i + d) % 4 !== 3).map((device_id) => ({
    device_id,
    timestamp: NOON_MS - DAY_MS + i * 1000,
    ...AT,
  })),
);

const DATES = "start_date=2026-03-19&end_date=2026-03-19";
const BUS = "/api/v1/devices/a/locations/history";
const USER = "/api/v1/users/driver/locations/history";
const APP = "/api/v1/locations/history";

async function createFleet() {
  const app = await createTestApp();
  // Newest first and device by device, so that arrival says nothing about order.
  for (const device of [2, 0, 3, 1].map((d) => DEVICES[d]!)) {
    await app.store(YESTERDAY.filter(({ device_id }) => device_id === device).toReversed());
  }
  return app;
}

type Key = string;

function keyOf({ device_id, timestamp }: JsonObject): Key {
  return `${(timestamp as number) - NOON_MS} ${device_id}`;
}

function keys({ body }: Answer): Key[] {
  return body.locations.map(keyOf);
}

const ALL_KEYS = YESTERDAY.map(keyOf);
const BUS_KEYS = YESTERDAY.filter(({ device_id }) => device_id === "a").map(keyOf);

describe.each([
  { path: BUS, expected: BUS_KEYS },
  { path: USER, expected: ALL_KEYS },
  { path: APP, expected: ALL_KEYS },
])("GET $path", ({ path, expected }) => {
  test("is ordered by time, then by the bytes of device ids", async () => {
    const app = await createFleet();
    expect(keys(await app.get(`${path}?${DATES}`))).toEqual(expected);
    expect(keys(await app.get(`${path}?${DATES}&order=asc`))).toEqual(expected);
  });

  test("order=desc is the exact reverse", async () => {
    const app = await createFleet();
    expect(keys(await app.get(`${path}?${DATES}&order=desc`))).toEqual(expected.toReversed());
  });

  test.each(["asc", "desc"])("pages of any size hold each record once, order=%s", async (order) => {
    const app = await createFleet();
    const ordered = order === "asc" ? expected : expected.toReversed();
    for (let limit = 1; limit <= expected.length + 1; limit++) {
      const seen: Key[] = [];
      for (let offset = 0; ; offset += limit) {
        const answer = await app.get(`${path}?${DATES}&order=${order}&limit=${limit}&offset=${offset}`);
        const count = Math.min(limit, expected.length - offset);
        const more = { count, has_more: offset + count < expected.length };
        expect(answer.body.pagination).toMatchObject(more);
        seen.push(...keys(answer));
        if (!more.has_more) break;
      }
      expect(seen).toEqual(ordered);
    }
  });

  test("pages stay whole while reports of other days come in", async () => {
    const app = await createFleet();
    for (const order of ["asc", "desc"]) {
      const seen: Key[] = [];
      for (let offset = 0; offset < expected.length; offset += 4) {
        const at = offset + (order === "asc" ? 0 : 1);
        const startMs = Date.UTC(2026, 2, 19);
        await app.store(
          [startMs - 1 - at, startMs + DAY_MS + at, NOON_MS - 40 * DAY_MS + at].flatMap((timestamp) =>
            [...DEVICES, "new"].map((device_id) => ({ device_id, timestamp, ...AT })),
          ),
        );
        seen.push(...keys(await app.get(`${path}?${DATES}&order=${order}&limit=4&offset=${offset}`)));
      }
      expect(seen).toEqual(order === "asc" ? expected : expected.toReversed());
    }
  });

  test("pages stay whole while newer reports of the same range come in", async () => {
    const app = await createFleet();
    const seen: Key[] = [];
    const added: Key[] = [];
    for (let offset = 0; ; offset += 5) {
      const answer = await app.get(`${path}?${DATES}&limit=5&offset=${offset}`);
      seen.push(...keys(answer));
      if (answer.body.pagination.has_more !== true) break;
      if (added.length === 6) continue;
      const report = { device_id: "a", timestamp: NOON_MS - DAY_MS + 20_000 + added.length, ...AT };
      await app.store([report]);
      added.push(keyOf(report));
    }
    expect(seen).toEqual([...expected, ...added]);
  });

  test("an offset at or beyond the end finds nothing more", async () => {
    const app = await createFleet();
    for (const offset of [expected.length, expected.length + 1, 5000, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await app.get(`${path}?${DATES}&offset=${offset}`);
      expect(status).toBe(200);
      expect(body.locations).toEqual([]);
      expect(body.pagination).toMatchObject({ count: 0, has_more: false });
    }
  });

  test("a range without records is an empty page", async () => {
    const app = await createFleet();
    const { status, body } = await app.get(path);
    expect(status).toBe(200);
    expect(body.locations).toEqual([]);
    expect(body.pagination).toMatchObject({ count: 0, has_more: false });
  });
});

test("total_estimated is never below what an offset past the end claims", async () => {
  const app = await createFleet();
  const { body } = await app.get(`${USER}?${DATES}&limit=3&offset=1000`);
  expect(body.pagination).toEqual({
    count: 0,
    has_more: false,
    total_estimated: 1000,
    offset: 1000,
    limit: 3,
  });
});

test("the totals are exact on every page", async () => {
  const app = await createFleet();
  await app.store([{ device_id: "idle", timestamp: NOON_MS, ...AT, user_id: "other" }]);
  for (const offset of [0, 7, YESTERDAY.length - 1]) {
    const user = (await app.get(`${USER}?${DATES}&limit=3&offset=${offset}`)).body;
    expect(user.pagination).toMatchObject({ total_estimated: YESTERDAY.length, offset, limit: 3 });
    const fleet = (await app.get(`${APP}?${DATES}&limit=3&offset=${offset}`)).body;
    expect(fleet.pagination.total_devices).toBe(DEVICES.length);
    expect(fleet.query_info.devices_queried).toBe(DEVICES.length + 1);
  }
});

test("pages hold 100 records unless another size is asked for, and long ranges have all of them", async () => {
  const app = await createTestApp();
  const names = ["x", "y", "z"];
  const reports = names.flatMap((device_id, d) =>
    Array.from({ length: 1500 }, (_, i) => ({
      device_id,
      timestamp: NOON_MS - DAY_MS + i * (d + 1) * 1000,
      ...AT,
    })),
  );
  await app.store(reports);
  const expected = reports
    .toSorted((a, b) => a.timestamp - b.timestamp || (a.device_id < b.device_id ? -1 : 1))
    .map(keyOf);
  for (const path of [USER, APP]) {
    expect(keys(await app.get(`${path}?${DATES}`))).toEqual(expected.slice(0, 100));
    for (const order of ["asc", "desc"]) {
      const seen: Key[] = [];
      for (let offset = 0; offset < 4500; offset += 1000) {
        seen.push(...keys(await app.get(`${path}?${DATES}&order=${order}&limit=1000&offset=${offset}`)));
      }
      expect(seen).toEqual(order === "asc" ? expected : expected.toReversed());
    }
    expect(keys(await app.get(`${path}?${DATES}&limit=2&offset=3999`))).toEqual(expected.slice(3999, 4001));
  }
});

describe("min_accuracy", () => {
  const values = [null, 0, 4.8, 10, 10.000001, 1000, 1000.5, 10_000_000];

  async function createMixed() {
    const app = await createTestApp();
    await app.store(
      values.map((horizontal_accuracy, i) => ({
        device_id: "a",
        timestamp: NOON_MS + i,
        ...AT,
        horizontal_accuracy,
      })),
    );
    await app.store([{ device_id: "coarse", timestamp: NOON_MS, ...AT, horizontal_accuracy: 5000 }]);
    return app;
  }

  test.each([
    ["0", [null, 0]],
    ["4.7", [null, 0]],
    ["4.8", [null, 0, 4.8]],
    ["10", [null, 0, 4.8, 10]],
    ["1000", [null, 0, 4.8, 10, 10.000001, 1000]],
  ] as const)("%s leaves out greater accuracies, and keeps records that tell none", async (bound, kept) => {
    const app = await createMixed();
    for (const path of [BUS, APP]) {
      const { body } = await app.get(`${path}?min_accuracy=${bound}`);
      expect(body.locations.map((record) => record.horizontal_accuracy ?? null)).toEqual([...kept]);
    }
  });

  test("pages and totals count what passes", async () => {
    const app = await createMixed();
    const query = "min_accuracy=10&limit=3";
    expect((await app.get(`${BUS}?${query}`)).body.pagination).toEqual({ count: 3, has_more: true });
    expect((await app.get(`${BUS}?${query}&offset=3`)).body.pagination).toEqual({
      count: 1,
      has_more: false,
    });
    const { body } = await app.get(`${APP}?${query}&offset=1`);
    expect(body.pagination).toEqual({ count: 3, has_more: false, total_devices: 1 });
    expect(body.query_info.devices_queried).toBe(2);
  });

  test("order=desc passes the same records", async () => {
    const app = await createMixed();
    const up = keys(await app.get(`${APP}?min_accuracy=10`));
    expect(keys(await app.get(`${APP}?min_accuracy=10&order=desc`))).toEqual(up.toReversed());
  });

  test("user history has no such parameter", async () => {
    const app = await createMixed();
    expect((await app.get(`${USER}?min_accuracy=0`)).body.locations).toHaveLength(values.length + 1);
  });
});

test("query_info measures: megabytes that grow with what is read, and a time", async () => {
  const app = await createFleet();
  const infoOf = async (query: string) => (await app.get(`${APP}?${query}`)).body.query_info;
  const none = await infoOf("start_date=2026-01-01&end_date=2026-01-01");
  const some = await infoOf(DATES);
  expect(none.data_scanned_mb).toBe(0);
  expect(some.data_scanned_mb).toBeGreaterThan(0);
  expect(some.data_scanned_mb as number).toBeLessThan(0.1); // 27 records are a few kilobytes.
  expect(some.query_time_ms).toBeGreaterThanOrEqual(0);
  expect((await app.get(USER)).body.query_info.source).toBe("hot");
});
