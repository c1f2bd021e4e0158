import { describe, expect, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { createBodyBudget } from "../../src/http/body-budget.ts";
import { createTestApp, NOON_MS, type TestApp } from "../support/test-app.ts";
import { BUS, INGEST_PATH } from "./endpoints.ts";

const HOUR_MS = 3_600_000;

test("createBodyBudget() takes nothing beyond its bounds, and gets all of it back", () => {
  const budget = createBodyBudget(2, 100, HOUR_MS);
  const [a, b] = [budget.begin()!, budget.begin()!];
  expect(budget.begin()).toBeNull();
  expect([a.take(60), b.take(50), b.take(40), a.take(1)]).toEqual([true, false, true, false]);
  expect([budget.requests, budget.bytes]).toEqual([2, 100]);
  a.end();
  expect([budget.requests, budget.bytes]).toEqual([1, 40]);
  b.end();
  expect([budget.requests, budget.bytes]).toEqual([0, 0]);
  expect(b.take(1)).toBeFalse(); // Nobody would give it back.
  expect(budget.begin()).not.toBeNull();
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
    const bodies = createBodyBudget(1, 10_000, HOUR_MS);
    const app = await createTestApp({ bodies });
    const { body, finish } = heldBody();
    const first = send(app, body);
    await Bun.sleep(1);
    expect(bodies.requests).toBe(1);
    const refused = await send(app, TEXT);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await refused.json()).toEqual({
      success: false,
      message: "too many reports are coming in at once; send again shortly",
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
      const bodies = createBodyBudget(10, TEXT.length - 1, HOUR_MS);
      const app = await createTestApp({ bodies });
      expect((await send(app, body, headers)).status).toBe(503);
      expect([bodies.requests, bodies.bytes]).toEqual([0, 0]);
      expect((await app.get("/api/v1/devices/bus/locations/current")).status).toBe(404);
    });
  }
});

test("readBody() gives a body up that takes too long to arrive, and frees what it took", async () => {
  const bodies = createBodyBudget(1, 10_000, 50);
  const app = await createTestApp({ bodies });
  for (const headers of [{}, { "content-length": String(TEXT.length) }]) {
    const { body, finish } = heldBody();
    const late = await send(app, body, headers);
    expect([late.status, await late.json()]).toEqual([
      400,
      { success: false, message: "the body took longer than 0.05 s to arrive" },
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
