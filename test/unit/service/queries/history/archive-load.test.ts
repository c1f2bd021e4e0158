import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { ARCHIVE_QUERIES_MAX, ARCHIVE_QUEUE_MAX } from "../../../../../src/app/config.ts";
import type { AppId } from "../../../../../src/model/ids.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import { until } from "../../../../support/until.ts";

/** Goal: a busy archive refuses politely and holds up nothing else; who goes away is not worked for. */

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD = "start_date=2026-01-14&end_date=2026-01-14";
const TODAY = "start_date=2026-01-28&end_date=2026-01-28";
let app: ArchiveApp;

beforeEach(async () => {
  app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
  const place = { device_id: "a", user_id: "rider", latitude: 1, longitude: 2 };
  await app.store([
    { ...place, timestamp: Date.UTC(2026, 0, 14, 3) },
    { ...place, timestamp: NOW_MS },
  ]);
  await app.seal();
});

afterEach(() => app.close());
afterAll(removeArchiveApps);

/** Takes slots of the archive for other apps until the result is called. */
function occupy(count: number): () => Promise<unknown> {
  const { reader } = app.directory.archive;
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const { signal } = new AbortController();
  const held = Array.from({ length: count }, (_, other) =>
    reader.withSession(`other-${other}` as AppId, signal, () => left),
  );
  return () => {
    leave();
    return Promise.all(held);
  };
}

const history = (query: string) => `/api/v1/devices/a/locations/history?${query}`;

test("questions about the last week don't wait for those about the archive", async () => {
  const free = occupy(ARCHIVE_QUERIES_MAX);
  const old = app.get(history(OLD));
  expect((await app.get(history(TODAY))).body.pagination.count).toBe(1);
  expect((await app.get("/api/v1/devices/a/locations/current")).status).toBe(200);
  expect(app.directory.archive.reader.waiting).toBe(1);
  await free();
  expect((await old).body.pagination.count).toBe(1);
});

test("more questions than may wait are a 503 that says when to ask again", async () => {
  const free = occupy(ARCHIVE_QUERIES_MAX + ARCHIVE_QUEUE_MAX);
  for (const path of [
    history(OLD),
    `/api/v1/locations/history?${OLD}`,
    `/api/v1/users/u/locations/history?${OLD}`,
  ]) {
    const refused = await app.get(path);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.body.message).toContain("archive");
  }
  await free();
  expect((await app.get(history(OLD))).status).toBe(200);
});

test("a client that goes away leaves the queue, and is no fault of ours", async () => {
  const free = occupy(ARCHIVE_QUERIES_MAX);
  const gone = new AbortController();
  const headers = { authorization: `Bearer ${app.keys.full}` };
  const asked = app.fetch(history(OLD), { headers, signal: gone.signal });
  const { reader } = app.directory.archive;
  await until(() => reader.waiting > 0);
  expect(reader.waiting).toBe(1);
  gone.abort();
  await asked;
  expect(app.directory.archive.reader.waiting).toBe(0);
  await free();
  expect(app.faults).toEqual([]);
});

test("where an answer came from is said, and how much was read for it", async () => {
  const infoOf = async (query: string) =>
    (await app.get(`/api/v1/users/rider/locations/history?${query}`)).body.query_info;
  expect((await infoOf(OLD)).source).toBe("archive");
  expect(Number((await infoOf(OLD)).data_scanned_mb)).toBeGreaterThan(0);
  expect((await infoOf(TODAY)).source).toBe("hot");
  expect((await infoOf("start_date=2026-01-14&end_date=2026-01-28")).source).toBe("hot+archive");
  expect((await infoOf("start_date=2026-01-16&end_date=2026-01-16")).source).toBe("hot");
  // Whatever another app has, over a sealed day or on one of which nobody had anything.
  for (const day of [14, 16])
    await app.store(
      [{ device_id: "a", latitude: 1, longitude: 3, timestamp: Date.UTC(2026, 0, day, 3) }],
      "other",
    );
  expect((await infoOf(OLD)).source).toBe("archive");
  expect((await infoOf("start_date=2026-01-14&end_date=2026-01-16")).source).toBe("archive");
  await app.store([{ device_id: "a", latitude: 1, longitude: 3, timestamp: Date.UTC(2026, 0, 14, 3) }]);
  expect((await infoOf(OLD)).source).toBe("hot+archive");
});
