import { expect, test } from "bun:test";
import { createTestApp, type JsonObject, NOON_MS, type TestApp } from "../../../support/test-app.ts";

/** What a record is, and what becomes of reports that come late, again or changed: contract §1. */

const AT = { latitude: 1, longitude: 2 };
const MINUTE_MS = 60_000;

async function historyOf(app: TestApp, device = "bus") {
  return (await app.get(`/api/v1/devices/${device}/locations/history`)).body.locations;
}

async function currentOf(app: TestApp, device = "bus") {
  return (await app.get(`/api/v1/devices/${device}/locations/current`)).body.location;
}

/** Ids of the devices that a path of a user's lists. */
async function listed(app: TestApp, path: string) {
  const { body } = await app.get(path);
  return (body.devices ?? body.locations).map((member: JsonObject) => member.device_id);
}

test("a report sent again is a duplicate, and changes nothing", async () => {
  const app = await createTestApp();
  const report = { device_id: "bus", timestamp: NOON_MS, ...AT, speed: 4.8, type: "MOVING", is_mock: false };
  const first = await app.post([report]);
  expect(first.body as unknown).toEqual({
    success: true,
    accepted: 1,
    duplicates: 0,
    rejected: [],
    sequence: 1,
  });
  const before = await historyOf(app);
  for (const again of [report, { ...report, speed: null }, { device_id: "bus", timestamp: NOON_MS, ...AT }]) {
    const { body } = await app.post([again]);
    expect(body as unknown).toEqual({
      success: true,
      accepted: 0,
      duplicates: 1,
      rejected: [],
      sequence: 1,
    });
  }
  expect(await historyOf(app)).toEqual(before);
});

test("repeats within one request are duplicates too", async () => {
  const app = await createTestApp();
  const report = { device_id: "bus", timestamp: NOON_MS, ...AT };
  const { body } = await app.post([report, report, { ...report, speed: 1 }, { ...report, speed: 1 }, report]);
  expect(body as unknown).toMatchObject({ accepted: 2, duplicates: 3 });
  expect(await historyOf(app)).toHaveLength(1);
});

test("a report that differs replaces what it carries, keeps the rest but what is of another fix, and the id", async () => {
  const app = await createTestApp();
  const first = {
    device_id: "bus",
    timestamp: NOON_MS,
    ...AT,
    user_id: "ann",
    speed: 4.8,
    brand: "Google",
    is_mock: true,
  };
  await app.store([first]);
  const [before] = await historyOf(app);
  const change = {
    device_id: "bus",
    timestamp: NOON_MS,
    latitude: 1.5,
    longitude: 2,
    speed: null,
    is_mock: false,
    os: "android",
  };
  expect((await app.post([change])).body as unknown).toMatchObject({ accepted: 1, duplicates: 0 });
  const { speed: ofAnotherFix, ...kept } = before!;
  expect(ofAnotherFix).toBe(4.8);
  const after = { ...kept, latitude: 1.5, is_mock: false, os: "android" };
  expect(await historyOf(app)).toEqual([after]);
  expect(await currentOf(app)).toMatchObject({ id: before?.id, latitude: 1.5, is_mock: false });
});

test("headers, and no member of the body, say how many records are new and how many reports were laid over one", async () => {
  const app = await createTestApp();
  const first = { device_id: "bus", timestamp: NOON_MS, ...AT };
  const { headers, body } = await app.post([
    first,
    { ...first, latitude: 1.5 },
    { ...first, device_id: "van" },
    first,
  ]);
  expect(Object.keys(body as object)).toEqual(["success", "accepted", "duplicates", "rejected", "sequence"]);
  expect(headers.get("wherehouse-new-records")).toBe("2");
  expect(headers.get("wherehouse-same-time")).toBe("2");
});

test("the same instant of two devices is two records", async () => {
  const app = await createTestApp();
  await app.store(["bus", "tram"].map((device_id) => ({ device_id, timestamp: NOON_MS, ...AT })));
  const { body } = await app.get("/api/v1/locations/history");
  expect(body.locations.map((record) => record.device_id)).toEqual(["bus", "tram"]);
  expect(new Set(body.locations.map((record) => record.id)).size).toBe(2);
});

test("an id is a ULID of the time and of app and device, the same for ever", async () => {
  const app = await createTestApp();
  const report = { device_id: "bus", timestamp: NOON_MS, ...AT };
  await app.store([report]);
  await app.store([report], "other");
  const id = (await currentOf(app)).id;
  // 48 bits of the timestamp, 80 of SHA-256 over `fleet NUL bus`, computed outside of the service.
  expect(id).toBe("01KM5HVQG049VQBYSRSD34VF1F");
  expect((await historyOf(app))[0]?.id).toBe(id);
  expect((await app.get("/api/v1/users/x/locations/history")).body.locations).toEqual([]);
  expect((await app.get("/api/v1/locations/history")).body.locations[0]?.id).toBe(id);
  const rival = (await app.get("/api/v1/devices/bus/locations/current", "other")).body.location.id as string;
  expect(rival.slice(0, 10)).toBe((id as string).slice(0, 10));
  expect(rival.slice(10)).not.toBe((id as string).slice(10));
});

test("ids sort as times do", async () => {
  const app = await createTestApp();
  const ages = [0, 1, 31, 32, 33, 1023, 1024, 32_768, 1_048_576, 2 ** 25, 2 ** 30, 2 ** 34];
  await app.store(ages.map((age) => ({ device_id: "bus", timestamp: NOON_MS - age, ...AT })));
  const { body } = await app.get("/api/v1/devices/bus/locations/history?start_date=2025-06-01");
  expect(body.locations).toHaveLength(ages.length);
  const ids = body.locations.map((record) => record.id as string);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
});

test("records, ids and users survive a power failure", async () => {
  const app = await createTestApp();
  await app.store([{ device_id: "bus", timestamp: NOON_MS, ...AT, user_id: "ann", altitude: 1e-7 }]);
  await app.store([{ device_id: "bus", timestamp: NOON_MS, ...AT, speed: 1 / 3 }]);
  await app.store([{ device_id: "bus", timestamp: NOON_MS - 1, ...AT }]);
  const again = await createTestApp({ files: app.files.crash() });
  expect(await historyOf(again)).toEqual(await historyOf(app));
  expect(await currentOf(again)).toEqual(await currentOf(app));
  expect(await listed(again, "/api/v1/users/ann/devices")).toEqual(["bus"]);
});

test("the current position is the latest by its own time, not the last to arrive", async () => {
  const app = await createTestApp();
  for (const [minutes, speed] of [
    [2, 2],
    [5, 5],
    [1, 1],
    [4, 4],
  ] as const) {
    await app.store([
      { device_id: "bus", timestamp: NOON_MS + minutes * MINUTE_MS, ...AT, latitude: minutes, speed },
    ]);
  }
  const newest = { timestamp: NOON_MS + 5 * MINUTE_MS, latitude: 5, speed: 5 };
  expect(await currentOf(app)).toMatchObject(newest);
  expect((await app.get("/api/v1/locations/current")).body.locations[0]).toMatchObject(newest);
  const near = async (latitude: number) =>
    (await app.get(`/api/v1/devices/nearby?latitude=${latitude}&longitude=2`)).body.results.length;
  expect([await near(5), await near(4)]).toEqual([1, 0]);
  expect((await historyOf(app)).map((record) => record.speed)).toEqual([1, 2, 4, 5]);
});

test("a late report is in the very next answer, however old", async () => {
  const app = await createTestApp();
  await app.store([{ device_id: "bus", timestamp: NOON_MS, ...AT }]);
  for (let day = 1; day <= 364; day += 33) {
    const timestamp = NOON_MS - day * 86_400_000;
    const date = new Date(timestamp).toISOString().slice(0, 10);
    await app.store([{ device_id: "bus", timestamp, ...AT }]);
    const { body } = await app.get(
      `/api/v1/devices/bus/locations/history?start_date=${date}&end_date=${date}`,
    );
    expect(body.locations.map((record) => record.timestamp)).toEqual([timestamp]);
  }
});

test("a report without a user belongs to ANONYMOUS, and is shown as such", async () => {
  const app = await createTestApp();
  await app.store([{ device_id: "bus", timestamp: NOON_MS, ...AT }]);
  expect((await currentOf(app)).user_id).toBe("ANONYMOUS");
  expect((await historyOf(app))[0]?.user_id).toBe("ANONYMOUS");
  expect((await app.get("/api/v1/locations/history")).body.locations[0]?.user_id).toBe("ANONYMOUS");
});

test("a device that changes hands: each user has the reports made under it, the last has the device", async () => {
  const app = await createTestApp();
  const report = (minutes: number, user_id: string | null) => ({
    device_id: "bus",
    timestamp: NOON_MS + minutes * MINUTE_MS,
    ...AT,
    user_id,
  });
  await app.store([report(1, "ann"), report(2, "ann"), report(3, "bob"), report(4, "ann"), report(5, "bob")]);
  const times = async (user: string) =>
    (await app.get(`/api/v1/users/${user}/locations/history`)).body.locations.map(
      (record) => ((record.timestamp as number) - NOON_MS) / MINUTE_MS,
    );
  expect(await times("ann")).toEqual([1, 2, 4]);
  expect(await times("bob")).toEqual([3, 5]);
  for (const path of ["locations/current", "devices"]) {
    expect(await listed(app, `/api/v1/users/ann/${path}`)).toEqual([]);
    expect(await listed(app, `/api/v1/users/bob/${path}`)).toEqual(["bus"]);
  }

  // A late report changes no owner; a later one without a user takes the device away.
  await app.store([report(0, "ann")]);
  expect(await times("ann")).toEqual([0, 1, 2, 4]);
  expect(await listed(app, "/api/v1/users/ann/devices")).toEqual([]);
  await app.store([report(6, null)]);
  expect(await listed(app, "/api/v1/users/bob/devices")).toEqual([]);
  expect(await listed(app, "/api/v1/users/bob/locations/current")).toEqual([]);
  expect(await times("bob")).toEqual([3, 5]);
});

test("a re-send without a user keeps the one that is stored", async () => {
  const app = await createTestApp();
  const report = { device_id: "bus", timestamp: NOON_MS, ...AT };
  await app.store([{ ...report, user_id: "ann" }]);
  expect((await app.post([report])).body as unknown).toMatchObject({ accepted: 0, duplicates: 1 });
  expect((await app.post([{ ...report, user_id: null, speed: 3 }])).body as unknown).toMatchObject({
    accepted: 1,
  });
  expect(await currentOf(app)).toMatchObject({ user_id: "ann", speed: 3 });
  expect(await listed(app, "/api/v1/users/ann/devices")).toEqual(["bus"]);
});

test("a re-send under another user hands the record over", async () => {
  const app = await createTestApp();
  const report = { device_id: "bus", timestamp: NOON_MS, ...AT };
  await app.store([report]);
  await app.store([{ ...report, user_id: "ann" }]);
  expect(await listed(app, "/api/v1/users/ann/locations/history")).toEqual(["bus"]);
  await app.store([{ ...report, user_id: "bob" }]);
  for (const path of ["locations/history", "locations/current", "devices"]) {
    expect(await listed(app, `/api/v1/users/ann/${path}`)).toEqual([]);
    expect(await listed(app, `/api/v1/users/bob/${path}`)).toEqual(["bus"]);
  }
  const { body } = await app.get("/api/v1/users/ann/locations/history");
  expect(body.pagination).toEqual({ count: 0, has_more: false, total_estimated: 0, offset: 0, limit: 100 });
});

test("a user nobody reported under has nothing, which is no error", async () => {
  const app = await createTestApp();
  await app.store([
    { device_id: "bus", timestamp: NOON_MS, ...AT, user_id: "ann", brand: "Google", type: "MOVING" },
  ]);
  // Not even where the text is known as something else.
  for (const user of ["nobody", "bus", "Google", "MOVING", "fleet", "true", "__proto__"]) {
    const current = await app.get(`/api/v1/users/${user}/locations/current`);
    expect(current.status).toBe(200);
    expect(current.body as unknown).toEqual({ success: true, user_id: user, device_count: 0, locations: [] });
    const devices = await app.get(`/api/v1/users/${user}/devices`);
    expect(devices.body as unknown).toEqual({ user_id: user, device_count: 0, devices: [] });
    expect((await app.get(`/api/v1/users/${user}/locations/history`)).body.locations).toEqual([]);
  }
});
