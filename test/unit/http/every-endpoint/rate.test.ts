import { expect, test } from "bun:test";
import { createTestApp, type KeyName, type TestApp } from "../../../support/test-app.ts";
import { INGEST_PATH, READ_PATHS } from "../requests.ts";

/** How often a key may ask: contract §2 (429), §3 (manners) and §5 (tiers). */

const EXCEEDED = {
  success: false,
  error: "RATE_LIMIT_EXCEEDED",
  code: "RATE_001",
  message: "too many requests with this API key; see Retry-After",
};

/** How many of `count` requests at one moment are let through. */
async function allowedOf(app: TestApp, count: number, key: KeyName): Promise<number> {
  let allowed = 0;
  for (let i = 0; i < count; i++) {
    const { status } = await app.get(READ_PATHS.deviceCurrent, key);
    if (status !== 429) allowed++;
  }
  return allowed;
}

test("a free key asks 20 times at once, then is told when to come back", async () => {
  const app = await createTestApp();
  for (let left = 19; left >= 0; left--) {
    const { status, headers } = await app.get(READ_PATHS.appCurrent, "free");
    expect(status).toBe(200);
    expect(headers.get("ratelimit")).toBe(`"free";r=${left};t=1`);
    expect(headers.get("ratelimit-policy")).toBe('"free";q=20;w=2');
    expect(headers.get("retry-after")).toBeNull();
  }
  const { status, headers, body } = await app.get(READ_PATHS.appCurrent, "free");
  expect(status).toBe(429);
  expect(headers.get("retry-after")).toBe("1");
  expect(headers.get("ratelimit")).toBe('"free";r=0;t=1');
  expect(headers.get("ratelimit-policy")).toBe('"free";q=20;w=2');
  expect(headers.get("www-authenticate")).toBeNull();
  expect(body as unknown).toEqual(EXCEEDED);
});

test("who waits as long as Retry-After says is let in", async () => {
  const app = await createTestApp();
  expect(await allowedOf(app, 25, "free")).toBe(20);
  const { headers } = await app.get(READ_PATHS.appCurrent, "free");
  app.clock.advance(Number(headers.get("retry-after")) * 1000);
  expect((await app.get(READ_PATHS.appCurrent, "free")).status).toBe(200);
});

test("a free key earns 10 requests a second, and never more than 20", async () => {
  const app = await createTestApp();
  expect(await allowedOf(app, 30, "free")).toBe(20);
  app.clock.advance(99);
  expect(await allowedOf(app, 5, "free")).toBe(0);
  app.clock.advance(1);
  expect(await allowedOf(app, 5, "free")).toBe(1);
  app.clock.advance(1000);
  expect(await allowedOf(app, 30, "free")).toBe(10);
  app.clock.advance(3_600_000);
  expect(await allowedOf(app, 30, "free")).toBe(20);
});

test("a standard key asks 200 times at once", async () => {
  const app = await createTestApp();
  const { headers } = await app.get(READ_PATHS.appCurrent, "standard");
  expect(headers.get("ratelimit-policy")).toBe('"standard";q=200;w=2');
  expect(await allowedOf(app, 210, "standard")).toBe(199);
  app.clock.advance(1000);
  expect(await allowedOf(app, 110, "standard")).toBe(100);
});

test("an unlimited key is never refused, and carries the headers too", async () => {
  const app = await createTestApp();
  expect(await allowedOf(app, 300, "full")).toBe(300);
  const { headers } = await app.get(READ_PATHS.appCurrent);
  expect(headers.get("ratelimit")).toMatch(/^"unlimited";r=\d+;t=\d+$/);
  expect(headers.get("ratelimit-policy")).toMatch(/^"unlimited";q=\d+;w=\d+$/);
});

test("each key has a rate of its own", async () => {
  const app = await createTestApp();
  expect(await allowedOf(app, 25, "free")).toBe(20);
  expect(await allowedOf(app, 25, "freeWriter")).toBe(20);
  expect((await app.get(READ_PATHS.appCurrent, "other")).status).toBe(200);
});

test("every kind of request counts: wrong ones, reports, HEAD", async () => {
  const app = await createTestApp();
  const authorization = `Bearer ${app.keys.free}`;
  await app.get("/api/v1/devices/unknown/locations/current", "free");
  await app.get("/api/v1/users/ANONYMOUS/devices", "free");
  await app.get("/api/v1/locations/current?limit=0", "free");
  await app.post([], "free");
  await app.fetch(INGEST_PATH, { method: "POST", headers: { authorization }, body: "x" });
  const head = await app.fetch(READ_PATHS.appCurrent, { method: "HEAD", headers: { authorization } });
  expect(head.headers.get("ratelimit")).toBe('"free";r=14;t=1');
});

test("paths without a key, unknown paths and wrong methods cost nothing", async () => {
  const app = await createTestApp();
  const headers = { authorization: `Bearer ${app.keys.free}` };
  for (const path of ["/health", "/ready", "/docs", "/nowhere"]) await app.fetch(path, { headers });
  await app.fetch(READ_PATHS.appCurrent, { method: "POST", headers });
  expect((await app.get(READ_PATHS.appCurrent, "free")).headers.get("ratelimit")).toBe('"free";r=19;t=1');
});

test("every answer to a key carries both headers, whatever its status", async () => {
  const app = await createTestApp();
  const statuses: number[] = [];
  const authorization = `Bearer ${app.keys.full}`;
  const send = (headers: Record<string, string>, body: string) =>
    app.fetch(INGEST_PATH, { method: "POST", headers: { authorization, ...headers }, body });
  const answers = [
    await app.get(READ_PATHS.appCurrent),
    await app.get("/api/v1/locations/current?limit=0"),
    await app.get("/api/v1/users/ANONYMOUS/devices"),
    await app.get(READ_PATHS.deviceCurrent),
    await app.get(READ_PATHS.deviceHistory),
    await app.get("/api/v1/devices/bus/locations/history?timezone=Mars"),
    await app.get(READ_PATHS.appCurrent, "writer"),
    await send({ "content-type": "application/json" }, "{"),
    await send({ "content-type": "text/plain" }, "{}"),
    await send({ "content-type": "application/json", "content-length": "16777217" }, "{}"),
    await app.post([]),
  ];
  for (const { status, headers } of answers) {
    statuses.push(status);
    expect(headers.get("ratelimit")).not.toBeNull();
    expect(headers.get("ratelimit-policy")).not.toBeNull();
  }
  expect(statuses).toEqual([200, 400, 400, 404, 404, 400, 403, 400, 415, 413, 200]);
});
