import { expect, test } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { beginPiecewise, streamOf } from "../../../../src/http/answer/piecewise.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { Steps } from "../../../../src/lib/schedule/steps.ts";
import { outcome } from "../../../support/rejection.ts";
import { createTestApp, NOON_MS } from "../../../support/test-app.ts";
import { turns } from "../../../support/turns.ts";
import { until } from "../../../support/until.ts";

const scheduler = new Scheduler();
const PATIENT = new AbortController().signal;
const encoder = new TextEncoder();
/** In which all 10,000 pieces would be made, packed or not, if the client had not to take them. */
const MANY_TURNS = 2000;

/** Pieces of 10,000 bytes each, which note how many were made and whether anybody waits for more. */
function createBody(count: number) {
  const state = { made: 0, isClosed: false };
  function* pieces() {
    try {
      for (let piece = 0; piece < count; piece++) {
        state.made++;
        yield encoder.encode(String(piece % 10).repeat(10_000));
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { state, pieces: pieces() };
}

const textOf = (count: number) =>
  Array.from({ length: count }, (_, piece) => String(piece % 10).repeat(10_000)).join("");

test("a short body is made at once and whole", () => {
  const { pieces } = createBody(3);
  const begun = beginPiecewise(new Scheduler(() => 0), "app", PATIENT, pieces); // In no time, on any machine.
  if (begun instanceof Promise) throw new Error("there is nothing to wait for");
  expect(new TextDecoder().decode(begun.whole!)).toBe(textOf(3));
});

test("a long body comes in pieces, plain or packed, with every byte in its place", async () => {
  for (const coding of [null, "gzip", "zstd"] as const) {
    const { pieces, state } = createBody(300);
    const begun = await beginPiecewise(scheduler, "app", PATIENT, pieces);
    const bytes = Buffer.from(await new Response(streamOf(begun, coding)).arrayBuffer());
    const plain = coding === null ? bytes : coding === "gzip" ? gunzipSync(bytes) : zstdDecompressSync(bytes);
    expect(plain.toString() === textOf(300)).toBe(true);
    expect(state).toEqual({ made: 300, isClosed: true });
  }
});

test("no more is made than the client takes, and nothing once it has gone", async () => {
  for (const coding of [null, "gzip"] as const) {
    const { pieces, state } = createBody(10_000);
    const reader = streamOf(await beginPiecewise(scheduler, "app", PATIENT, pieces), coding).getReader();
    await reader.read();
    await turns(MANY_TURNS);
    expect(state.made).toBeLessThan(coding === null ? 150 : 2000); // Packed, it is a hundredth.
    await reader.cancel();
    await until(() => state.isClosed);
    const { made } = state;
    await turns(MANY_TURNS);
    expect(state).toEqual({ made, isClosed: true });
  }
});

test("a client that goes before it has taken anything ends its own answer alone", async () => {
  let nowMs = 0;
  const scheduler = new Scheduler(() => nowMs);
  /** Work that takes a turn of the event loop for each step. */
  function* longWork(): Steps<void> {
    for (let turn = 0; turn < 20; turn++) {
      nowMs += 5;
      yield;
    }
  }
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on("uncaughtException", note);
  for (const coding of [null, "gzip", "zstd"] as const) {
    const client = new AbortController();
    const begun = await beginPiecewise(scheduler, "app", client.signal, createBody(10_000).pieces);
    const others = Promise.resolve(scheduler.runAtOnce("others", PATIENT, longWork())); // So that its next pieces wait.
    const stream = streamOf(begun, coding);
    client.abort();
    await others;
    await stream.cancel();
  }
  process.off("uncaughtException", note);
  expect(uncaught).toEqual([]);
});

test("a body fails where a piece does, rather than ending early", async () => {
  function* pieces() {
    yield encoder.encode("x".repeat(2_000_000));
    throw new Error("no more");
  }
  for (const coding of [null, "gzip"] as const) {
    const begun = await beginPiecewise(scheduler, "app", PATIENT, pieces());
    expect(await outcome(new Response(streamOf(begun, coding)).arrayBuffer())).toThrow("no more");
  }
});

test("a user's devices are all there, however many, plain or packed", async () => {
  const app = await createTestApp();
  const ids = Array.from({ length: 12_000 }, (_, number) => `d${number}`);
  for (let start = 0; start < ids.length; start += 6000) {
    const reports = ids.slice(start, start + 6000).map((device_id) => ({
      device_id,
      timestamp: NOON_MS,
      latitude: 1,
      longitude: 2,
      user_id: "crew",
    }));
    await app.store(reports);
  }
  for (const coding of ["identity", "gzip"]) {
    const headers = { authorization: `Bearer ${app.keys.full}`, "accept-encoding": coding };
    const response = await app.fetch("/api/v1/users/crew/devices", { headers });
    expect(response.headers.get("content-encoding")).toBe(coding === "gzip" ? "gzip" : null);
    const bytes = Buffer.from(await response.arrayBuffer());
    const body = JSON.parse((coding === "gzip" ? gunzipSync(bytes) : bytes).toString());
    expect(body.device_count).toBe(12_000);
    expect(body.devices.map(({ device_id }: { device_id: string }) => device_id)).toEqual(ids.toSorted());
  }
});

test("a user's paths are all there, however many devices, and whatever is reported while they are sent", async () => {
  const app = await createTestApp();
  const ids = Array.from(
    { length: 30_000 },
    (_, number) => `d${String((number * 7919) % 30_000).padStart(5, "0")}`,
  );
  const store = async (timestamp: number, latitude: number, brand: string) => {
    for (let start = 0; start < ids.length; start += 10_000) {
      const some = ids.slice(start, start + 10_000);
      await app.store(
        some.map((device_id) => ({ device_id, timestamp, latitude, longitude: 0, user_id: "crew", brand })),
      );
    }
  };
  await store(NOON_MS, 0, "first");
  await store(NOON_MS + 1000, 1, "second");
  const day = new Date(NOON_MS).toISOString().slice(0, 10);
  const path = `/api/v1/users/crew/locations/history?start_date=${day}&end_date=${day}&distance_travelled=true&limit=10`;
  const asked = app.get(path);
  await store(NOON_MS + 2000, 2, "third");
  const { body } = await asked;
  const meters = body.distance_travelled.by_device;
  expect(Object.keys(meters)).toEqual(ids.toSorted());
  for (const id of ids) expect(meters[id]).toBeGreaterThan(111_000);
  expect(body.locations).toHaveLength(10);
  expect(body.pagination.total_estimated).toBeGreaterThanOrEqual(60_000);
});
