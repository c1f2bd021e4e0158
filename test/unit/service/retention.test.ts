import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { AppId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION } from "../../../src/model/time/retention.ts";
import { FileError } from "../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { inspectLog } from "../../../src/wal/read-log.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import { batchIn, batchOf } from "../../support/reports/batches.ts";
import { verifyDirectory } from "../../support/verify-directory.ts";

/**
 * Goal: what the retention promises to be gone is gone from the disk two days later, also from a log whose segments
 * hold many days. Method: a year is imported at once, as a file has it, and the clock is turned day by day, with no
 * restart.
 */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 28, 12);

/** In one batch, the oldest first: every day at both ends of the retention, and some between. */
async function importYear(app: ArchiveApp): Promise<void> {
  const nowMs = app.clock.nowMs();
  const back = Array.from({ length: 366 }, (_, day) => 365 - day);
  const reports = back
    .filter((day) => day > 340 || day < 10 || day % 30 === 0)
    .map((day) => ({
      device_id: `bus-${day % 7}`,
      timestamp: nowMs - day * DAY_MS,
      latitude: 1,
      longitude: 2,
      user_id: `driver of day ${day}`,
    }));
  const taken = await app.directory.ingest("fleet" as AppId, batchOf(reports));
  expect(taken.ok).toBe(true);
}

/** The times of all reports in the log. */
async function timesInLog({ dataDir }: ArchiveApp): Promise<number[]> {
  const times: number[] = [];
  await inspectLog(createNodeFiles(), join(dataDir, "wal"), (entry) => {
    times.push(...batchIn(entry).timestampMs);
  });
  return times;
}

test("a log that a year was imported into holds nothing older than the retention, and a restart brings nothing back", async () => {
  const clock = createManualClock(START_MS);
  let app = await createArchiveApp({ clock });
  await importYear(app);
  for (let day = 1; day <= 20; day++) {
    clock.advance(DAY_MS);
    await app.store([{ device_id: "today", timestamp: clock.nowMs(), latitude: 1, longitude: 2 }]);
    await app.seal();
    const oldestMs = Math.min(...(await timesInLog(app)));
    expect(oldestMs).toBeGreaterThanOrEqual(DEFAULT_RETENTION.startMs(clock.nowMs()));
  }
  const times = await timesInLog(app);
  expect(times.length).toBeLessThan(12); // The week that memory holds.

  const manifest = app.directory.archive.manifest;
  app = await app.restart();
  const { days, expired } = await app.seal();
  expect([days, expired]).toEqual([[], []]);
  expect(app.directory.archive.manifest.days).toEqual(manifest.days);
  const { problems, pastDays } = await verifyDirectory(app.dataDir, clock);
  expect(problems).toEqual([]);
  expect(pastDays.map(({ loggedReports }) => loggedReports)).toEqual(pastDays.map(() => 0));
  expect(pastDays.length).toBe(1); // Found to be expired today, deleted tomorrow.
  await app.close();
});

test("verify names what is older than the retention and still on the disk", async () => {
  const clock = createManualClock(START_MS);
  const app = await createArchiveApp({ clock });
  await importYear(app);
  clock.advance(DAY_MS);
  const past = async () => (await verifyDirectory(app.dataDir, clock)).pastDays;
  expect(await past()).toEqual([{ day: "2025-01-28", archivedRecords: 0, loggedReports: 1 }]);
  await app.seal();
  expect(await past()).toEqual([{ day: "2025-01-28", archivedRecords: 1, loggedReports: 0 }]);
  clock.advance(DAY_MS);
  await app.seal();
  expect(await past()).toEqual([{ day: "2025-01-29", archivedRecords: 1, loggedReports: 0 }]);
  await app.close();
});

test("a day that was deleted is not archived again where the log could not give it up", async () => {
  const clock = createManualClock(START_MS);
  const files = createNodeFiles();
  const held = async (operation: string, path: string) => {
    if (path.includes("/wal/") && (await files.exists(path))) throw new FileError(operation, path, "EACCES");
  };
  const disk = {
    files: {
      ...files,
      replace: (path: string, bytes: Uint8Array) =>
        held("replace", path).then(() => files.replace(path, bytes)),
      remove: (path: string) => held("remove", path).then(() => files.remove(path)),
    },
  };
  let app = await createArchiveApp({ clock, disk });
  await importYear(app);
  for (let day = 1; day <= 6; day++) {
    clock.advance(DAY_MS);
    await app.store([{ device_id: "today", timestamp: clock.nowMs(), latitude: 1, longitude: 2 }]);
    expect((await app.seal()).unfinished).toContain("EACCES");
  }
  const { dataDir } = app;
  await app.close();
  expect(Math.min(...(await timesInLog(app)))).toBeLessThan(DEFAULT_RETENTION.startMs(clock.nowMs()));

  app = await createArchiveApp({ clock, dataDir });
  const inMemory = app.directory.hot.daysInMemory().map(({ day }) => day * DAY_MS);
  expect(Math.min(...inMemory)).toBeGreaterThan(clock.nowMs() - 10 * DAY_MS);
  const { days, expired } = await app.seal();
  expect([days, expired]).toEqual([[], []]);
  expect(Math.min(...(await timesInLog(app)))).toBeGreaterThanOrEqual(
    DEFAULT_RETENTION.startMs(clock.nowMs()),
  );
  await app.close();
});

test("the newest position of a device goes with its day, and does not come back with a clock that is set back", async () => {
  const clock = createManualClock(START_MS);
  let app = await createArchiveApp({ clock });
  await app.store([{ device_id: "silent", timestamp: START_MS - 360 * DAY_MS, latitude: 1, longitude: 2 }]);
  await app.store([{ device_id: "other", timestamp: START_MS - 300 * DAY_MS, latitude: 1, longitude: 2 }]);
  await app.seal();
  clock.advance(10 * DAY_MS);
  expect(await app.seal()).toMatchObject({ days: [], expired: ["2025-02-02"], deleted: [] });
  expect(newestRows(app)).toBe(2); // A clock that is set right within a day has everything back.
  clock.advance(DAY_MS);
  expect(await app.seal()).toMatchObject({ days: [], expired: [], deleted: ["2025-02-02"] });
  expect(newestRows(app)).toBe(1);

  clock.advance(-11 * DAY_MS);
  app = await app.restart();
  expect((await app.get("/api/v1/devices/silent/locations/current")).status).toBe(404);
  expect((await app.get("/api/v1/devices/other/locations/current")).status).toBe(200);
  await app.close();
});

/** How many devices the checkpoint has the newest record of. */
function newestRows({ directory }: ArchiveApp): number {
  return directory.archive.manifest.latest!.reduce((sum, { rows }) => sum + rows, 0);
}
