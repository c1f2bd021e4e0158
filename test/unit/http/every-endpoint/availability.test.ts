import { describe, expect, test } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { FixedRetention } from "../../../../src/model/time/retention.ts";
import { createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import { openTestSettings } from "../../directory/test-settings.ts";
import { BUS, EVERY_READ_PATH, OPEN_PATHS, READ_PATHS } from "../requests.ts";

/** `/health`, `/ready`, and what the service says while it can't answer: contract §2 and §3. */

const STARTING = { status: "starting", replayed: 1234, total: 5678 } as const;

async function ask(app: TestApp, path: string) {
  const response = await app.fetch(path);
  return { status: response.status, body: await response.json() };
}

describe("/health", () => {
  test("tells the version and for how long the server runs", async () => {
    const app = await createTestApp();
    const healthy = (uptime_seconds: number) => ({
      status: 200,
      body: { status: "ok", version: "1.2.3", uptime_seconds },
    });
    expect(await ask(app, "/health")).toEqual(healthy(0));
    app.clock.advance(90_500);
    expect(await ask(app, "/health")).toEqual(healthy(90.5));
  });

  test("answers whatever the service is at", async () => {
    const app = await createTestApp();
    for (const state of [STARTING, { status: "stopping" }] as const) {
      app.setReadiness(state);
      expect((await app.fetch("/health")).status).toBe(200);
      expect((await app.fetch("/docs")).status).toBe(200);
    }
  });
});

const KEPT = {
  retention: "365d",
  retention_start: "2025-03-20T00:00:00.000Z",
  seal: { last: null, late: false },
};

describe("/ready", () => {
  test("is a 503 with the progress while the log is read", async () => {
    const app = await createTestApp();
    app.setReadiness(STARTING);
    expect(await ask(app, "/ready")).toEqual({ status: 503, body: STARTING });
    expect((await app.fetch("/ready")).headers.get("retry-after")).toBe("1");
  });

  test("is a 200 with a count of damage once every record can be asked for", async () => {
    const app = await createTestApp();
    app.setReadiness({ status: "ready", lagMs: null });
    expect(await ask(app, "/ready")).toEqual({ status: 200, body: { status: "ready", damaged: 0, ...KEPT } });
    const damaged = await createTestApp({ countDamaged: async () => 3 });
    expect(await ask(damaged, "/ready")).toEqual({
      status: 200,
      body: { status: "ready", damaged: 3, ...KEPT },
    });
  });

  test("says how far back records are kept, as that is set now", async () => {
    const settings = await openTestSettings();
    const app = await createTestApp({ retention: settings.retention });
    const kept = async () => {
      const { retention, retention_start } = (await app.get("/ready", null)).body;
      const document = JSON.stringify((await app.get("/docs", null)).body);
      return [retention, retention_start, /retention is `(\w+)`/.exec(document)?.[1]];
    };
    expect(await kept()).toEqual(["365d", "2025-03-20T00:00:00.000Z", "365d"]);
    await settings.setRetention(FixedRetention.ofDays(30));
    expect(await kept()).toEqual(["30d", "2026-02-18T00:00:00.000Z", "30d"]);
    await settings.setRetention(FixedRetention.FOREVER);
    expect(await kept()).toEqual(["forever", null, "forever"]);
  });

  test("is a 200 that says when the last seal was, also where that is long ago", async () => {
    const lastMs = Date.UTC(2026, 2, 19, 3, 4, 5, 678);
    for (const isLate of [false, true]) {
      const app = await createTestApp({ seals: () => ({ lastMs, isLate }) });
      for (const lag of [{}, { lag_ms: 12 }]) {
        app.setReadiness({ status: "ready", lagMs: lag.lag_ms ?? null });
        expect(await ask(app, "/ready")).toMatchObject({
          status: 200,
          body: { status: "ready", seal: { last: "2026-03-19T03:04:05.678Z", late: isLate }, ...lag },
        });
      }
    }
  });

  test("of a node says how far it lags, and is a 503 where that is too far to be asked", async () => {
    const app = await createTestApp();
    app.setReadiness({ status: "ready", lagMs: 12 });
    expect((await ask(app, "/ready")).body).toMatchObject({ status: "ready", lag_ms: 12 });
    app.setReadiness({ status: "lagging", lagMs: 12_345 });
    expect(await ask(app, "/ready")).toEqual({ status: 503, body: { status: "lagging", lag_ms: 12_345 } });
    expect((await app.fetch("/ready")).headers.get("retry-after")).toBe("1");
    await app.store([{ ...BUS, timestamp: NOON_MS }]);
    expect((await app.get(READ_PATHS.deviceCurrent)).status).toBe(200);
  });

  test("is a 503 while the server stops", async () => {
    const app = await createTestApp();
    app.setReadiness({ status: "stopping" });
    expect(await ask(app, "/ready")).toEqual({ status: 503, body: { status: "stopping" } });
  });
});

describe("while the service starts or stops", () => {
  const states = [
    { state: STARTING, message: "the server is starting: it reads its log", retryAfter: "1" },
    { state: { status: "stopping" }, message: "the server is stopping", retryAfter: "5" },
  ] as const;

  test.each([...states])("data endpoints are a 503 ($message)", async ({ state, message, retryAfter }) => {
    const app = await createTestApp();
    await app.store([{ ...BUS, timestamp: NOON_MS }]);
    app.setReadiness(state);
    const answers = [
      ...(await Promise.all(EVERY_READ_PATH.map((path) => app.get(path)))),
      await app.post([{ ...BUS, device_id: "late", timestamp: NOON_MS }]),
    ];
    for (const { status, headers, body } of answers) {
      expect(status).toBe(503);
      expect(headers.get("retry-after")).toBe(retryAfter);
      expect(headers.get("ratelimit")).not.toBeNull();
      expect(headers.get("cache-control")).toBe("no-store");
      expect(body as unknown).toEqual({ success: false, message });
    }
    app.setReadiness({ status: "ready", lagMs: null });
    expect((await app.get(READ_PATHS.deviceCurrent)).status).toBe(200);
    expect((await app.get("/api/v1/devices/late/locations/current")).status).toBe(404);
  });

  test("keys, paths and methods are looked at all the same", async () => {
    const app = await createTestApp();
    app.setReadiness(STARTING);
    expect((await app.get(READ_PATHS.appCurrent, null)).status).toBe(401);
    expect((await app.get(READ_PATHS.appCurrent, "revoked")).status).toBe(401);
    expect((await app.get(READ_PATHS.appCurrent, "writer")).status).toBe(403);
    expect((await app.get("/nowhere")).status).toBe(404);
    expect((await app.fetch(READ_PATHS.appCurrent, { method: "DELETE" })).status).toBe(405);
  });
});

test("a full disk is a 503 to reports alone, and taken back once there is room", async () => {
  const app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS }]);
  const room = app.files.capacityBytes;
  app.files.capacityBytes = 0;
  const refused = await app.post([{ ...BUS, timestamp: NOON_MS + 1 }]);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("10");
  expect(refused.body as unknown).toEqual({
    success: false,
    message: "the disk is full: no reports are taken until there is room",
  });
  // Nothing of it is shown, and questions are answered.
  expect((await app.get(READ_PATHS.deviceHistory)).body.locations).toHaveLength(1);
  // What the disk holds already needs no room.
  expect((await app.post([{ ...BUS, timestamp: NOON_MS }])).body as unknown).toMatchObject({ duplicates: 1 });
  app.files.capacityBytes = room;
  await app.store([{ ...BUS, timestamp: NOON_MS + 1 }]);
  expect((await app.get(READ_PATHS.deviceHistory)).body.locations).toHaveLength(2);
});

test("a failed sync is a 503 to all reports from then on, and questions go on", async () => {
  const app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS }]);
  app.files.failNext("sync", "EIO");
  for (const i of [1, 2]) {
    const { status, headers, body } = await app.post([{ ...BUS, timestamp: NOON_MS + i }]);
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toBe("60");
    expect(body as unknown).toEqual({
      success: false,
      message: "the log failed: no reports are taken until the server is restarted",
    });
  }
  expect((await app.get(READ_PATHS.deviceHistory)).body.locations).toHaveLength(1);
});

describe("our own mistake", () => {
  const broken = () =>
    createTestApp({
      nearby: () => {
        throw new Error("secret path /data/wal and a stack");
      },
      ingest: async () => {
        throw new Error("secret");
      },
    });

  test("is a 500 that names the request and nothing of the inside", async () => {
    const app = await broken();
    const headers = { authorization: `Bearer ${app.keys.full}`, "x-request-id": "req-7" };
    const response = await app.fetch(READ_PATHS.nearby, { headers });
    expect(response.status).toBe(500);
    expect(response.headers.get("ratelimit")).not.toBeNull();
    expect(response.headers.get("ratelimit-policy")).not.toBeNull();
    expect(response.headers.get("x-request-id")).toBe("req-7");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      success: false,
      message: "the server failed to answer; its log has the details",
      request_id: "req-7",
    });
    expect(String(app.faults[0])).toContain("secret path");
  });

  test("is one of an asynchronous handler too, under an id that was made", async () => {
    const app = await broken();
    const { status, headers, body } = await app.post([{ ...BUS, timestamp: NOON_MS }]);
    expect(status).toBe(500);
    expect(body.request_id).toBe(headers.get("x-request-id") as string);
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(app.faults).toHaveLength(1);
  });

  test("stays with its request", async () => {
    const app = await broken();
    await app.get(READ_PATHS.nearby);
    for (const path of [...OPEN_PATHS, READ_PATHS.appCurrent]) expect((await app.get(path)).status).toBe(200);
  });
});

test("answers given at the same time don't mix", async () => {
  const app = await createTestApp();
  const names = Array.from({ length: 16 }, (_, i) => `bus-${i}`);
  for (const device_id of names) {
    const reports = Array.from({ length: 500 }, (_, i) => ({
      ...BUS,
      device_id,
      timestamp: NOON_MS + i,
      brand: device_id,
    }));
    await app.store(reports);
  }
  for (const coding of ["identity", "gzip", "zstd"]) {
    const headers = { authorization: `Bearer ${app.keys.full}`, "accept-encoding": coding };
    const sent = names.map((name) =>
      app.fetch(`/api/v1/devices/${name}/locations/history?limit=500`, { headers }),
    );
    const answers = await Promise.all(sent);
    const bodies = await Promise.all(answers.map((answer) => answer.bytes()));
    bodies.forEach((bytes, i) => {
      const { locations } = JSON.parse(unpack(coding, bytes)) as { locations: { brand: string }[] };
      expect(locations.map(({ brand }) => brand)).toEqual(new Array(500).fill(names[i]));
    });
  }
});

function unpack(coding: string, bytes: Uint8Array): string {
  if (coding === "gzip") return gunzipSync(bytes).toString();
  return coding === "zstd" ? zstdDecompressSync(bytes).toString() : new TextDecoder().decode(bytes);
}

test("nearby and /health are answered at once: a promise would have the listener see to the connection meanwhile", async () => {
  const app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS }]);
  const headers = { authorization: `Bearer ${app.keys.full}` };
  for (const path of ["/health", READ_PATHS.nearby]) {
    const answered = app.answer(new Request(`http://127.0.0.1${path}`, { headers }));
    expect(answered).toBeInstanceOf(Response);
  }
});
