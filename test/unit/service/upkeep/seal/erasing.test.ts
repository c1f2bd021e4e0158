import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Part } from "../../../../../src/archive/manifest.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { ERASED_DAYS_MAX } from "../../../../../src/service/upkeep/seal/erase.ts";
import { clearedOf } from "../../../../../src/service/upkeep/seal/seal.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import { eraseFrom } from "../../../../support/erase.ts";
import type { Report } from "../../../../support/reports/batches.ts";
import { verifyDirectory } from "../../../../support/verify-directory.ts";

/** Goal: seals erase from files what an erasure destroys, a bounded number of days at a time, and say what they did. */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 28, 12);
let app: ArchiveApp;

beforeEach(async () => {
  app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
});

afterEach(() => app.close());

function report(device_id: string, daysAgo: number, more: Report = {}): Report {
  return { device_id, timestamp: NOW_MS - daysAgo * DAY_MS, latitude: 1, longitude: 2, ...more };
}

function dayName(daysAgo: number): string {
  return new Date(NOW_MS - daysAgo * DAY_MS).toISOString().slice(0, 10);
}

/** Devices and days that answers show. */
async function shown(): Promise<string[]> {
  const path = "/api/v1/locations/history?start_date=2025-02-01&end_date=2026-01-28&limit=1000";
  const { status, body } = await app.get(path);
  expect(status).toBe(200);
  return body.locations
    .map((record) => `${record.device_id} ${(NOW_MS - Number(record.timestamp)) / DAY_MS}`)
    .sort();
}

/** What files have, by answers without masks. */
async function inFiles(): Promise<string[]> {
  const pending = app.directory.hot.erasures.pending();
  app.directory.hot.erasures.finish(pending.at(-1)?.sequence ?? 0);
  return shown();
}

describe("a seal with an erasure", () => {
  test("writes anew what has its records, and nothing else, and says what it did", async () => {
    await app.store([report("a", 20), report("a", 21), report("b", 20), report("b", 22), report("b", 200)]);
    await app.seal();
    const files = (day: number) =>
      [...app.directory.archive.manifest.days].find(([key]) => key === Math.floor(NOW_MS / DAY_MS) - day)![1];
    const [mixed, alone, other] = [20, 21, 22].map(files);
    const checkpoint = app.directory.archive.manifest.latest;
    const sequence = await eraseFrom(app, { deviceId: "a" });
    const expected = ["b 20", "b 200", "b 22"];
    expect(await shown()).toEqual(expected);
    const { days, records, erased } = await app.seal();
    expect([days, records]).toEqual([[], 0]);
    expect(erased).toMatchObject({
      days: [dayName(21), dayName(20)],
      records: 2,
      damaged: [],
      left: 0,
      sequence,
      log: { isComplete: true },
    });
    const [after] = files(20).parts;
    const before = ({ file, crc, bytes }: Part) => ({ file, crcBefore: crc, bytesBefore: bytes });
    const bySequence = new Map([[sequence, 1]]);
    expect(erased!.files).toEqual([
      { ...before(alone!.parts[0]!), bySequence, ...{ fileAfter: null, crcAfter: null } },
      {
        ...{ ...before(mixed!.parts[0]!), bySequence },
        ...{ fileAfter: after!.file, crcAfter: after!.crc },
      },
    ]);
    expect(files(21).parts).toEqual([]);
    expect(files(22)).toEqual({ ...other!, sequence, cleared: sequence });
    const { latest } = app.directory.archive.manifest;
    expect([checkpoint!.map(({ rows }) => rows), latest!.map(({ rows }) => rows)]).toEqual([[2], [1]]);
    expect((await verifyDirectory(app.dataDir, app.clock)).problems).toEqual([]);
    expect(await inFiles()).toEqual(expected);
    app = await app.restart();
    expect(await shown()).toEqual(expected);
  });

  test("does nothing more once all is erased, and erases a later one", async () => {
    await app.store([report("a", 20), report("b", 20)]);
    await app.seal();
    await eraseFrom(app, { deviceId: "a" });
    await app.seal();
    const { manifest } = app.directory.archive;
    expect((await app.seal()).erased).toMatchObject({ days: [], files: [], left: 0 });
    expect(app.directory.archive.manifest).toBe(manifest);
    const second = await eraseFrom(app, { deviceId: "b" });
    expect((await app.seal()).erased).toMatchObject({
      days: [dayName(20)],
      files: [{ bySequence: new Map([[second, 1]]) }],
    });
    expect(await inFiles()).toEqual([]);
  });

  test("erases a user's records, and a range's, from no other day", async () => {
    const user = { user_id: "u" };
    await app.store([report("a", 20, user), report("b", 20), report("a", 21, user), report("a", 22, user)]);
    await app.seal();
    await eraseFrom(app, { userId: "u", startMs: NOW_MS - 21 * DAY_MS });
    expect(await shown()).toEqual(["a 22", "b 20"]);
    expect((await app.seal()).erased).toMatchObject({
      days: [dayName(21), dayName(20)],
      records: 2,
      left: 0,
    });
    expect(await inFiles()).toEqual(["a 22", "b 20"]);
  });

  test("keeps what the device has reported since, also at an erased instant", async () => {
    await app.store([report("a", 20, { speed: 3 }), report("b", 20)]);
    await app.seal();
    await eraseFrom(app, { deviceId: "a" });
    await app.store([report("a", 20), report("a", 19)]);
    expect(await shown()).toEqual(["a 19", "a 20", "b 20"]);
    expect((await app.seal()).erased).toMatchObject({ days: [dayName(20)], records: 1, left: 0 });
    expect(await shown()).toEqual(["a 19", "a 20", "b 20"]);
    app = await app.restart();
    const path = `/api/v1/devices/a/locations/history?start_date=${dayName(20)}&end_date=${dayName(20)}`;
    const { body } = await app.get(path);
    expect(body.locations).toHaveLength(1);
    expect(body.locations[0]!.speed ?? null).toBe(null);
  });

  test("erases some days, and the next one more, the oldest first", async () => {
    const count = ERASED_DAYS_MAX + 3;
    const days = Array.from({ length: count }, (_, day) => 20 + day);
    await app.store(days.flatMap((day) => [report("a", day), report("b", day)]));
    await app.seal();
    await eraseFrom(app, { deviceId: "a" });
    const first = (await app.seal()).erased;
    expect([first?.days.length, first?.left]).toEqual([ERASED_DAYS_MAX, 3]);
    expect(first?.days[0]).toBe(dayName(20 + count - 1));
    const expected = days.map((day) => `b ${day}`);
    expect(await shown()).toEqual(expected);
    const second = (await app.seal()).erased;
    expect([second?.days, second?.left]).toEqual([[dayName(22), dayName(21), dayName(20)], 0]);
    expect(await inFiles()).toEqual(expected);
  }, 60_000);

  test("writes the checkpoint anew if no other file may have anything", async () => {
    await app.store([report("a", 20)]);
    await app.seal();
    const [part] = [...app.directory.archive.manifest.days.values()][0]!.parts;
    rmSync(join(app.dataDir, "archive", part!.file));
    await app.directory.archive.examine([part!]);
    await verifyDirectory(app.dataDir, app.clock, { acknowledge: true });
    await app.seal(); // Its records are lost, all but the newest.
    const rows = () => app.directory.archive.manifest.latest?.map((each) => each.rows);
    expect(rows()).toEqual([1]);
    await eraseFrom(app, { deviceId: "a" });
    expect((await app.seal()).erased).toMatchObject({ days: [], files: [], left: 0 });
    expect(rows()).toEqual([]);
  });

  test("leaves a day with a damaged file masked, names the file, and erases the others", async () => {
    await app.store([report("a", 20), report("b", 20), report("a", 21), report("b", 21)]);
    await app.seal();
    const [part] = [...app.directory.archive.manifest.days.values()][0]!.parts;
    const path = join(app.dataDir, "archive", part!.file);
    const bytes = readFileSync(path);
    const flipped = Uint8Array.from(bytes);
    flipped[bytes.length >> 1]! ^= 1;
    const sequence = await eraseFrom(app, { deviceId: "a" });
    writeFileSync(path, flipped);
    for (let seal = 0; seal < 2; seal++) {
      const { erased, blocked } = await app.seal();
      const days = seal === 0 ? [dayName(20)] : [];
      expect(erased).toMatchObject({ days, damaged: [part!.file], left: 1 });
      expect(blocked).toEqual([]);
    }
    expect([...clearedOf(app.directory.archive.manifest).values()].sort()).toEqual([1, sequence]);
    writeFileSync(path, bytes);
    expect((await app.seal()).erased).toMatchObject({ days: [dayName(21)], damaged: [], left: 0 });
    expect(await inFiles()).toEqual(["b 20", "b 21"]);
  });
});

describe("a rebuilt manifest brings nothing erased back", () => {
  for (const isSealed of [false, true]) {
    test(isSealed ? "once it is erased" : "while it is masked", async () => {
      await app.store([report("a", 20), report("b", 20), report("a", 21)]);
      await app.seal();
      await app.store([report("a", 20.25), report("b", 20.25)]);
      await app.seal();
      await eraseFrom(app, { deviceId: "a" });
      await app.store([report("a", 20.5)]);
      if (isSealed) await app.seal();
      const expected = ["a 20.5", "b 20", "b 20.25"];
      expect(await shown()).toEqual(expected);
      await app.close();
      rmSync(join(app.dataDir, "archive", "manifest.json"));
      app = await createArchiveApp({ clock: app.clock, dataDir: app.dataDir });
      expect(await shown()).toEqual(expected);
      await app.seal();
      expect(await shown()).toEqual(expected);
      expect(await inFiles()).toEqual(expected);
    });
  }
});
