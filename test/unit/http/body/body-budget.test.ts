import { describe, expect, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { createBodyBudget } from "../../../../src/http/body/body-budget.ts";
import type { Timers } from "../../../../src/lib/schedule/timers.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import { until } from "../../../support/until.ts";
import { BUS, INGEST_PATH } from "../requests.ts";

const ARRIVAL_MS_MAX = 2500;

/** One key of one app, as all of a test app's requests here. */
const HOLDER = { appId: "fleet", keyId: "k" };

function createBudget(requestsMax: number, bytesMax: number, timers: Timers = new VirtualTime()) {
  const limits = { requestsMax, bytesMax, expectedBytesMax: bytesMax, arrivalMsMax: ARRIVAL_MS_MAX };
  return createBodyBudget(limits, timers);
}

test("createBodyBudget() takes nothing beyond its bounds, and gets all of it back", () => {
  const budget = createBudget(3, 100);
  const [a, b] = [budget.begin(HOLDER)!, budget.begin({ appId: "rival", keyId: "r" })!];
  expect(budget.begin(HOLDER)).toBeNull(); // One is left, and as many are under way.
  expect([a.take(60), b.take(50), b.take(40), a.take(1)]).toEqual([true, false, true, false]);
  expect([budget.requests, budget.bytes, budget.apps]).toEqual([2, 100, 2]);
  expect(budget.refused).toEqual({ requests: 1, bytes: 2 });
  a.end();
  expect([budget.requests, budget.bytes, budget.apps]).toEqual([1, 40, 1]);
  b.end();
  expect([budget.requests, budget.bytes, budget.apps]).toEqual([0, 0, 0]);
  expect(b.take(1)).toBeFalse(); // Nobody would give it back.
  expect(budget.begin(HOLDER)).not.toBeNull();
});

test("a body that says its length and stays silent takes nothing of what has arrived", async () => {
  const budget = createBudget(100, 1000);
  const silent = Promise.withResolvers<Uint8Array>();
  const shares = Array.from({ length: 20 }, () => budget.begin(HOLDER)!);
  const reads = shares.map((share) => share.whole(100, () => silent.promise));
  expect(reads.filter((read) => read !== null).length).toBe(4); // A third of a thousand, and what began below it.
  expect(budget.bytes).toBe(0);
  const other = budget.begin({ appId: "rival", keyId: "r" })!;
  expect(await other.whole(100, async () => new Uint8Array(7))).toEqual(new Uint8Array(7));
  silent.resolve(new Uint8Array(1));
  await Promise.all(reads);
  expect(shares[0]!.whole(1000, () => silent.promise)).not.toBeNull(); // All is there again.
});

const TEXT = JSON.stringify({ locations: [{ ...BUS, timestamp: NOON_MS, brand: "x".repeat(120) }] });

function send(app: TestApp, body: RequestInit["body"], headers: Record<string, string> = {}) {
  return app.fetch(INGEST_PATH, {
    method: "POST",
    headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json", ...headers },
    body: body ?? null,
  });
}

/** A body that goes on when it is told to. */
function heldBody(): { body: ReadableStream<Uint8Array>; finish(): void } {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
      controller.enqueue(new TextEncoder().encode(TEXT.slice(0, 10)));
    },
  });
  return {
    body,
    finish() {
      controller.enqueue(new TextEncoder().encode(TEXT.slice(10)));
      controller.close();
    },
  };
}

describe("reports beyond what may come in at once", () => {
  test("are a 503 with Retry-After while others are under way, and taken afterwards", async () => {
    const bodies = createBudget(1, 10_000);
    const app = await createTestApp({ bodies });
    const { body, finish } = heldBody();
    const first = send(app, body);
    await until(() => bodies.requests > 0);
    expect(bodies.requests).toBe(1);
    const refused = await send(app, TEXT);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toEqual({
      success: false,
      message: "too many reports are arriving; send them again shortly",
    });
    finish();
    expect((await first).status).toBe(200);
    expect((await send(app, TEXT)).status).toBe(200);
    expect([bodies.requests, bodies.bytes]).toEqual([0, 0]);
  });

  const packed: [string, RequestInit["body"], Record<string, string>][] = [
    ["plain", TEXT, { "content-length": String(TEXT.length) }],
    ["in pieces", TEXT, {}],
    ["gzip", gzipSync(TEXT), { "content-encoding": "gzip" }],
    ["zstd", zstdCompressSync(TEXT), { "content-encoding": "zstd" }],
  ];
  for (const [how, body, headers] of packed) {
    test(`are a 503 where there is no memory for them, ${how}`, async () => {
      const bodies = createBudget(10, TEXT.length - 1);
      const app = await createTestApp({ bodies });
      expect((await send(app, body, headers)).status).toBe(503);
      expect([bodies.requests, bodies.bytes]).toEqual([0, 0]);
      expect((await app.get("/api/v1/devices/bus/locations/current")).status).toBe(404);
    });
  }
});

test("BodyReader gives a body up that takes too long to arrive, and frees what it took", async () => {
  const time = new VirtualTime();
  const bodies = createBudget(1, 10_000, time);
  const app = await createTestApp({ bodies });
  for (const headers of [{}, { "content-length": String(TEXT.length) }]) {
    const { body, finish } = heldBody();
    const sent = send(app, body, headers);
    await until(() => bodies.requests > 0);
    await time.pass(ARRIVAL_MS_MAX - 1);
    expect(bodies.requests).toBe(1);
    await time.pass(1);
    const late = await sent;
    expect([late.status, await late.json()]).toEqual([
      400,
      { success: false, message: "the body took longer than 2.5 s to arrive" },
    ]);
    expect([bodies.requests, bodies.bytes]).toEqual([0, 0]);
    try {
      finish(); // What comes after it is dropped.
    } catch {
      // The stream was cancelled, as a runtime's would be.
    }
    expect((await send(app, TEXT)).status).toBe(200);
    expect([bodies.requests, bodies.bytes]).toEqual([0, 0]);
  }
});

test("a key that holds its share of requests is told to come back, and others are let in", async () => {
  const bodies = createBudget(12, 1e6);
  const app = await createTestApp({ bodies });
  const held = Array.from({ length: 9 }, heldBody);
  const answers = held.map(({ body }) => send(app, body));
  await until(() => bodies.requests + bodies.refused.requests === 9);
  expect(bodies.requests).toBe(4); // A third.
  const post = (key: "full" | "writer" | "other") =>
    app
      .post([{ ...BUS, timestamp: NOON_MS }], key)
      .then(({ status, headers }) => [status, headers.get("retry-after")]);
  expect(await post("full")).toEqual([503, "1"]);
  expect(await post("writer")).toEqual([200, null]); // Another key of the app.
  expect(await post("other")).toEqual([200, null]);
  for (const { finish } of held.slice(0, 4)) finish();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBe(4);
  expect(statuses.filter((status) => status === 503).length).toBe(5);
  expect(bodies.requests).toBe(0);
});
