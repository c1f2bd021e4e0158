import { describe, expect, test } from "bun:test";
import { APP_ID, createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";

const MINUTE_MS = 60_000;
const HERE = { latitude: 53.4, longitude: -2.9 };

/** Devices whose clocks are two minutes behind report every minute, the last of them last. */
async function createLateApp(deviceIds: readonly string[]): Promise<TestApp> {
  const app = await createTestApp();
  for (let minute = 0; minute < 9; minute++) {
    for (const [index, device_id] of deviceIds.entries()) {
      const nowMs = NOON_MS + minute * MINUTE_MS + index * 1000;
      app.clock.set(nowMs);
      await app.store([{ device_id, timestamp: nowMs - 2 * MINUTE_MS, ...HERE }]);
    }
  }
  return app;
}

describe("GET /api/v1/doctor", () => {
  test("tells what is wrong, newest first, with what shows it and what helps", async () => {
    const app = await createLateApp(["bus", "tram"]);
    const { status, body } = await app.get("/api/v1/doctor");
    expect(status).toBe(200);
    const finding = {
      client: "native",
      kind: "clock",
      what: "The device's clock is behind, so its positions are kept under wrong times.",
      measured: "Fresh positions carry times 2 min before their arrival (median).",
      advice: "Switch on automatic date and time in the device's settings.",
    };
    const lastMs = NOON_MS + 8 * MINUTE_MS;
    expect(body as unknown).toEqual({
      success: true,
      app_id: "fleet",
      findings: [
        { device_id: "tram", at: lastMs + 1000, ...finding },
        { device_id: "bus", at: lastMs, ...finding },
      ],
      total_count: 2,
      stored: {
        ...{
          corrections: 0,
          corrections_max: 10_000,
          corrected_records: 0,
          corrected_records_max: 1_000_000,
        },
        ...{ profiles: 0, profile_bytes: 0, profile_bytes_max: 64 * 1024 * 1024 },
      },
    });
  });

  test("names devices that have a name", async () => {
    const app = await createLateApp(["bus", "tram"]);
    const put = (device: string, members: object) =>
      app.fetch(`/api/v1/devices/${device}/profile`, {
        method: "PUT",
        headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" },
        body: JSON.stringify(members),
      });
    expect((await put("bus", { name: "Bus 42" })).status).toBe(200);
    expect((await put("tram", { icon: "train" })).status).toBe(200);
    const { body } = await app.get("/api/v1/doctor");
    const [tram, bus] = body.findings as readonly Record<string, unknown>[];
    expect([tram!.device_id, tram!.name]).toEqual(["tram", undefined]);
    expect([bus!.device_id, bus!.name]).toEqual(["bus", "Bus 42"]);
  });

  test("is a page of so many, and counts all", async () => {
    const app = await createLateApp(["a", "b", "c", "d", "e"]);
    const { body } = await app.get("/api/v1/doctor?limit=2");
    expect(body.findings).toMatchObject([{ device_id: "e" }, { device_id: "d" }]);
    expect(body.total_count).toBe(5);
  });

  test("is asked about one device", async () => {
    const app = await createLateApp(["bus", "tram"]);
    const { body } = await app.get("/api/v1/doctor?device_id=bus");
    expect(body.findings).toMatchObject([{ device_id: "bus", kind: "clock" }]);
    expect((await app.get("/api/v1/doctor?device_id=unknown")).body).toMatchObject({
      findings: [],
      total_count: 0,
    });
  });
});

test("GET /api/v1/doctor tells of the broker that brings reports to the app, and to no other app", async () => {
  const status = {
    connections: 2,
    connected: 1,
    held: 0,
    messages: { taken: 5, faulty: 0 },
    unassured: 3,
    unheard: { count: 2, topics: ["owntracks/pixel"] },
    events: null,
    isElsewhere: false,
    outageSeconds: 1800,
  };
  const app = await createTestApp({ mqttOf: (appId) => (appId === APP_ID ? status : null) });
  const told = {
    ...{ connections: 2, connected: 1, unassured_messages: 3 },
    ...{ unheard_messages: 2, unheard_topics: ["owntracks/pixel"] },
  };
  expect((await app.get("/api/v1/doctor")).body.mqtt).toEqual({ ...told, outage_seconds: 1800 });
  expect((await app.get("/api/v1/doctor", "other")).body).not.toHaveProperty("mqtt");
  const unknown = await createTestApp({ mqttOf: () => ({ ...status, outageSeconds: null }) });
  expect((await unknown.get("/api/v1/doctor")).body.mqtt).toEqual(told);
});

test("GET /metrics counts what is found, by kind and of all apps, once a minute", async () => {
  const app = await createLateApp(["bus", "tram"]);
  const counts = async () => {
    const headers = { authorization: `Bearer ${app.keys.operator}` };
    const text = await (await app.fetch("/metrics", { headers })).text();
    expect(text).toContain("\nwherehouse_doctor_devices 2\n");
    return text.split("\n").filter((line) => line.startsWith("wherehouse_findings{"));
  };
  const others = ["units", "repeats", "refused", "values", "arrival", "silent"].map(
    (kind) => `wherehouse_findings{kind="${kind}"} 0`,
  );
  expect(await counts()).toEqual([`wherehouse_findings{kind="clock"} 2`, ...others]);
  const nowMs = NOON_MS + 60 * MINUTE_MS;
  app.clock.set(nowMs);
  expect(await counts()).toContain(`wherehouse_findings{kind="silent"} 2`);
  await app.store([{ device_id: "bus", timestamp: nowMs, ...HERE }]);
  app.clock.set(nowMs + 59_999);
  expect(await counts()).toContain(`wherehouse_findings{kind="silent"} 2`);
  app.clock.set(nowMs + 60_000);
  expect(await counts()).toContain(`wherehouse_findings{kind="silent"} 1`);
});

describe("GET /api/v1/devices/{deviceId}/last-requests", () => {
  test("tells of each request as it was understood, newest first", async () => {
    const app = await createTestApp();
    const good = { device_id: "bus", timestamp: NOON_MS - 1500, ...HERE, speed: 8.3, is_mock: false };
    await app.post([{ device_id: "bus", timestamp: NOON_MS - 2500, ...HERE }, good]);
    app.clock.set(NOON_MS + 1000);
    await app.post([good, { device_id: "bus", timestamp: NOON_MS, latitude: 91, longitude: 0 }]);
    const { status, body } = await app.get("/api/v1/devices/bus/last-requests");
    expect(status).toBe(200);
    const others = { client: "native", newest: good, left_out: [], timed_by_arrival: 0, skipped: [] };
    expect(body as unknown).toEqual({
      success: true,
      device_id: "bus",
      requests: [
        {
          ...others,
          received: NOON_MS + 1000,
          taken: 1,
          lag_seconds: 2.5,
          refused_count: 1,
          refused: [
            { reason: "invalid", detail: "latitude must be between -90 and 90", position: "locations[1]" },
          ],
          duplicates: 1,
        },
        {
          ...others,
          received: NOON_MS,
          taken: 2,
          lag_seconds: 1.5,
          refused_count: 0,
          refused: [],
          duplicates: 0,
        },
      ],
    });
  });

  test("finds a device that only ever had refused points, and no other that has none", async () => {
    const app = await createTestApp();
    await app.post([{ device_id: "lost", timestamp: NOON_MS, latitude: 91, longitude: 0 }]);
    const { status, body } = await app.get("/api/v1/devices/lost/last-requests");
    expect([status, body.requests]).toMatchObject([200, [{ taken: 0, refused_count: 1 }]]);
    expect((await app.get("/api/v1/devices/lost/last-requests", "other")).status).toBe(404);
    const unknown = await app.get("/api/v1/devices/unknown/last-requests");
    expect([unknown.status, unknown.body as unknown]).toEqual([
      404,
      { success: false, device_id: "unknown", message: "Device not found or does not belong to your app" },
    ]);
  });

  test("tells of what an app sent in its own words: what was left out, what was no position, what was refused", async () => {
    const app = await createTestApp();
    const feature = (coordinates: readonly number[], properties: object) => {
      const timestamp = new Date(NOON_MS - 1000).toISOString();
      return {
        type: "Feature",
        geometry: { type: "Point", coordinates },
        properties: { timestamp, ...properties },
      };
    };
    const locations = [
      feature([-2.9, 53.4], { device_id: "pixel7", speed: 2_000_000, battery_level: 0.5 }),
      feature([0, 0], { device_id: "pixel7" }),
      feature([-2.9, 53.4], { device_id: "pixel7", action: "visit" }),
    ];
    const sent = await app.fetch("/ingest/overland", {
      method: "POST",
      headers: { authorization: `Bearer ${app.keys.writer}`, "content-type": "application/json" },
      body: JSON.stringify({ locations }),
    });
    expect(sent.status).toBe(200);
    const { requests } = (await app.get("/api/v1/devices/pixel7/last-requests")).body;
    expect(requests).toEqual([
      {
        received: NOON_MS,
        client: "overland",
        taken: 1,
        newest: { device_id: "pixel7", timestamp: NOON_MS - 1000, ...HERE, battery_level: 50 },
        lag_seconds: 1,
        refused_count: 1,
        refused: [{ reason: "null_island", position: "points[1]" }],
        duplicates: 0,
        left_out: [{ field: "speed", reason: "out_of_range", count: 1 }],
        timed_by_arrival: 0,
        skipped: [{ what: "event", count: 1 }],
      },
    ]);
  });

  test("names what can't be read, and says where the time of the arrival stands in", async () => {
    const app = await createTestApp();
    const sendTo = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${app.keys.writer}`, "content-type": "application/json" };
      const { status } = await app.fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
      expect(status).toBe(200);
    };
    const place = { lat: 53.4, lon: -2.9, tst: NOON_MS / 1000 };
    const topic = "owntracks/a/b";
    await sendTo("/ingest/owntracks", { _type: "location", ...place, topic, acc: "unknown", alt: "NaN" });
    const [first] = (await app.get("/api/v1/devices/a%3Ab/last-requests")).body.requests as object[];
    expect(first).toMatchObject({
      taken: 1,
      left_out: [
        { field: "horizontal_accuracy", reason: "unreadable", count: 1 },
        { field: "altitude", reason: "unreadable", count: 1 },
      ],
      timed_by_arrival: 0,
    });

    await sendTo("/ingest/traccar", { id: "van", lat: 53.4, lon: -2.9 });
    await sendTo("/ingest/traccar", { id: "van", lat: 53.4, lon: -2.9, timestamp: "noon" });
    await sendTo("/ingest/traccar", { id: "van", lat: 91, lon: -2.9, timestamp: NOON_MS });
    const { requests } = (await app.get("/api/v1/devices/van/last-requests")).body;
    expect(requests).toMatchObject([
      { taken: 0, refused: [{ reason: "bad_coordinates", detail: "latitude is out of range" }] },
      { taken: 0, refused: [{ reason: "no_time", detail: "timestamp is there, but can't be read" }] },
      { taken: 1, timed_by_arrival: 1, newest: { timestamp: NOON_MS } },
    ]);
  });

  test("keeps five", async () => {
    const app = await createTestApp();
    for (let second = 0; second < 7; second++) {
      app.clock.set(NOON_MS + second * 1000);
      await app.store([{ device_id: "bus", timestamp: NOON_MS + second, ...HERE }]);
    }
    const { requests } = (await app.get("/api/v1/devices/bus/last-requests")).body;
    const received = (requests as { received: number }[]).map(({ received }) => received - NOON_MS);
    expect(received).toEqual([6000, 5000, 4000, 3000, 2000]);
  });
});
