import { describe, expect, test } from "bun:test";
import { type Answer, createTestApp, type JsonObject, NOON_MS } from "../../../support/test-app.ts";

/** Lists of latest positions and of devices: specification §4.3 and §4.5, contract §3. */

const AT = { latitude: 53.4, longitude: -2.9, user_id: "driver" };

/** Ids in the order of their UTF-8 bytes; UTF-16 would put the emoji before the full-width letters. */
const IDS_IN_ORDER = [
  "10",
  "9",
  "B",
  "a",
  "a/b",
  "aa",
  "b",
  "z",
  "\u00e4",
  "\u07ff",
  "\u0800",
  "\u4e2d",
  "\ud7ff",
  "\ue000",
  "\uff21",
  "\uff21\uff21",
  "\ufffd",
  "\u{10000}",
  "\u{1f68c}",
  "\u{1f68c}a",
  "\u{10ffff}",
];

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item, i) => ({ item, key: (i * 7919 + 13) % 101 }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

const fleet = await createTestApp();
for (const device_id of shuffled(IDS_IN_ORDER)) {
  await fleet.store([{ device_id, timestamp: NOON_MS - IDS_IN_ORDER.indexOf(device_id), ...AT }]);
}

function ids({ body }: Answer): unknown[] {
  return (body.devices ?? body.locations).map((member: JsonObject) => member.device_id);
}

describe("order", () => {
  test.each([
    "/api/v1/locations/current",
    "/api/v1/users/driver/locations/current",
    "/api/v1/users/driver/devices",
  ])("%s lists devices by the bytes of their ids", async (path) => {
    expect(ids(await fleet.get(path))).toEqual(IDS_IN_ORDER);
    const bytes = IDS_IN_ORDER.map((id) => Buffer.from(id));
    expect(bytes.toSorted(Buffer.compare)).toEqual(bytes);
  });
});

describe("GET /api/v1/locations/current", () => {
  test("pages of any size show each device once", async () => {
    const total = IDS_IN_ORDER.length;
    for (let limit = 1; limit <= total + 1; limit++) {
      const seen: unknown[] = [];
      for (let offset = 0; ; offset += limit) {
        const answer = await fleet.get(`/api/v1/locations/current?limit=${limit}&offset=${offset}`);
        const count = Math.min(limit, total - offset);
        expect(answer.body.pagination).toEqual({
          count,
          has_more: offset + count < total,
          total_count: total,
          offset,
          limit,
        });
        seen.push(...ids(answer));
        if (answer.body.pagination.has_more !== true) break;
      }
      expect(seen).toEqual(IDS_IN_ORDER);
    }
  });

  test("an offset at or beyond the end finds nothing more", async () => {
    for (const offset of [IDS_IN_ORDER.length, IDS_IN_ORDER.length + 1, Number.MAX_SAFE_INTEGER]) {
      const { body } = await fleet.get(`/api/v1/locations/current?offset=${offset}`);
      expect(body.locations).toEqual([]);
      expect(body.pagination).toEqual({
        count: 0,
        has_more: false,
        total_count: IDS_IN_ORDER.length,
        offset,
        limit: 100,
      });
    }
  });

  test("a page holds 100 unless another size is asked for", async () => {
    const app = await createTestApp();
    const names = Array.from({ length: 1001 }, (_, i) => `bus-${String(i).padStart(4, "0")}`);
    await app.store(names.map((device_id) => ({ device_id, timestamp: NOON_MS, ...AT })));
    expect(ids(await app.get("/api/v1/locations/current"))).toEqual(names.slice(0, 100));
    expect(ids(await app.get("/api/v1/locations/current?limit=1000"))).toEqual(names.slice(0, 1000));
    expect(ids(await app.get("/api/v1/users/driver/locations/current"))).toEqual(names.slice(0, 100));
    expect(ids(await app.get("/api/v1/users/driver/locations/current?limit=1000"))).toHaveLength(1000);
    expect(ids(await app.get("/api/v1/users/driver/locations/current?limit=7"))).toEqual(names.slice(0, 7));
    // The list of a user's devices has no pages.
    const devices = await app.get("/api/v1/users/driver/devices");
    expect(devices.body.device_count).toBe(1001);
    expect(ids(devices)).toEqual(names);
  });

  test("timestamp_after and timestamp_before leave out their own instants", async () => {
    const app = await createTestApp();
    const times = [0, 1, 2, 3, 4].map((i) => NOON_MS - 100 + i);
    await app.store(times.map((timestamp, i) => ({ device_id: `d${i}`, timestamp, ...AT })));
    const ask = async (query: string) => {
      const answer = await app.get(`/api/v1/locations/current?${query}`);
      return [answer.body.pagination.total_count, ...ids(answer)];
    };
    expect(await ask(`timestamp_after=${times[1]}`)).toEqual([3, "d2", "d3", "d4"]);
    expect(await ask(`timestamp_before=${times[1]}`)).toEqual([1, "d0"]);
    expect(await ask(`timestamp_after=${times[0]}&timestamp_before=${times[4]}`)).toEqual([
      3,
      "d1",
      "d2",
      "d3",
    ]);
    expect(await ask(`timestamp_after=${times[2]}&timestamp_before=${times[2]}`)).toEqual([0]);
    expect(await ask(`timestamp_after=${times[3]}&timestamp_before=${times[1]}`)).toEqual([0]);
    expect(await ask("timestamp_after=-1&timestamp_before=0")).toEqual([0]);
    expect(await ask(`timestamp_after=${times[0]}&limit=1&offset=1`)).toEqual([4, "d2"]);
  });

  test("they look at the latest position alone", async () => {
    const app = await createTestApp();
    await app.store([NOON_MS - 10, NOON_MS].map((timestamp) => ({ device_id: "d", timestamp, ...AT })));
    expect(ids(await app.get(`/api/v1/locations/current?timestamp_before=${NOON_MS}`))).toEqual([]);
  });

  test("an app that never reported has an empty list", async () => {
    const app = await createTestApp();
    expect((await app.get("/api/v1/locations/current")).body as unknown).toEqual({
      success: true,
      app_id: "fleet",
      locations: [],
      pagination: { count: 0, has_more: false, total_count: 0, offset: 0, limit: 100 },
    });
  });
});

const ages = await createTestApp();
await ages.store([
  { device_id: "future", timestamp: NOON_MS + 1000, ...AT, horizontal_accuracy: 4.8 },
  { device_id: "now", timestamp: NOON_MS, ...AT, horizontal_accuracy: 10 },
  { device_id: "s10", timestamp: NOON_MS - 10_000, ...AT, horizontal_accuracy: 10.1 },
  { device_id: "s10-1", timestamp: NOON_MS - 10_001, ...AT },
  { device_id: "d1", timestamp: NOON_MS - 86_400_000, ...AT, horizontal_accuracy: 0 },
  { device_id: "d1+1", timestamp: NOON_MS - 86_399_999, ...AT, horizontal_accuracy: 10_000_000 },
  { device_id: "d99", timestamp: NOON_MS - 99 * 86_400_000, ...AT, horizontal_accuracy: 1000 },
]);

describe("GET /api/v1/users/{user_id}/locations/current", () => {
  const ask = async (query: string) => {
    const answer = await ages.get(`/api/v1/users/driver/locations/current?${query}`);
    expect(answer.body.device_count).toBe(answer.body.locations.length);
    return ids(answer).sort();
  };

  test("shows positions of any age unless max_age is given", async () => {
    expect(await ask("")).toEqual(["d1", "d1+1", "d99", "future", "now", "s10", "s10-1"]);
    expect(await ask("max_age=9007199254740991")).toHaveLength(7);
  });

  test("max_age leaves out older ones", async () => {
    expect(await ask("max_age=0")).toEqual(["future", "now"]);
    expect(await ask("max_age=9")).toEqual(["future", "now"]);
    expect(await ask("max_age=10")).toEqual(["future", "now", "s10"]);
    expect(await ask("max_age=11")).toEqual(["future", "now", "s10", "s10-1"]);
    expect(await ask("max_age=86400")).toEqual(["d1", "d1+1", "future", "now", "s10", "s10-1"]);
  });

  test("accuracy leaves out coarser ones, and keeps those that tell none", async () => {
    expect(await ask("accuracy=0")).toEqual(["d1", "s10-1"]);
    expect(await ask("accuracy=4")).toEqual(["d1", "s10-1"]);
    expect(await ask("accuracy=5")).toEqual(["d1", "future", "s10-1"]);
    expect(await ask("accuracy=10")).toEqual(["d1", "future", "now", "s10-1"]);
    expect(await ask("accuracy=10&max_age=10")).toEqual(["future", "now"]);
    expect(await ask("accuracy=10000000")).toHaveLength(7);
  });

  test("limit counts what passes the filters", async () => {
    expect(await ask("accuracy=10&limit=2")).toEqual(["d1", "future"]);
    expect(await ask("max_age=10&limit=3")).toEqual(["future", "now", "s10"]);
  });
});

describe("GET /api/v1/users/{user_id}/devices", () => {
  const ask = async (query: string) => {
    const answer = await ages.get(`/api/v1/users/driver/devices?${query}`);
    expect(answer.body.device_count).toBe(answer.body.devices.length);
    return ids(answer).sort();
  };

  test("lists all devices unless active_only is true", async () => {
    expect(await ask("")).toHaveLength(7);
    expect(await ask("active_only=false&max_age=0")).toHaveLength(7);
    expect(await ask("max_age=0")).toHaveLength(7);
  });

  test("active means newer than max_age, a day where none is given", async () => {
    expect(await ask("active_only=true")).toEqual(["d1+1", "future", "now", "s10", "s10-1"]);
    expect(await ask("active_only=true&max_age=86400")).toEqual(["d1+1", "future", "now", "s10", "s10-1"]);
    expect(await ask("active_only=true&max_age=86401")).toHaveLength(6);
    expect(await ask("active_only=true&max_age=10")).toEqual(["future", "now"]);
    expect(await ask("active_only=true&max_age=11")).toEqual(["future", "now", "s10", "s10-1"]);
    expect(await ask("active_only=true&max_age=0")).toEqual(["future"]);
    expect(await ask("active_only=true&max_age=9007199254740991")).toHaveLength(7);
  });

  test("a device comes and goes with the clock", async () => {
    const app = await createTestApp();
    await app.store([{ device_id: "bus", timestamp: NOON_MS, ...AT }]);
    const active = async () => ids(await app.get("/api/v1/users/driver/devices?active_only=true&max_age=60"));
    app.clock.advance(59_999);
    expect(await active()).toEqual(["bus"]);
    app.clock.advance(1);
    expect(await active()).toEqual([]);
    await app.store([{ device_id: "bus", timestamp: NOON_MS + 1, ...AT }]);
    expect(await active()).toEqual(["bus"]);
  });

  test("a summary tells of the latest position, whatever arrived last", async () => {
    const app = await createTestApp();
    await app.store([{ device_id: "bus", timestamp: NOON_MS, ...AT, battery_level: 5, model: "new" }]);
    await app.store([
      { device_id: "bus", timestamp: NOON_MS - 1, ...AT, latitude: 1, battery_status: "Charging" },
    ]);
    expect((await app.get("/api/v1/users/driver/devices")).body as unknown).toEqual({
      user_id: "driver",
      device_count: 1,
      devices: [
        {
          device_id: "bus",
          last_seen: NOON_MS,
          last_location: { latitude: 53.4, longitude: -2.9, timestamp: NOON_MS },
          battery_level: 5,
          model: "new",
        },
      ],
    });
  });
});
