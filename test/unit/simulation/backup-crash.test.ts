import { afterAll, beforeAll, expect, test } from "bun:test";
import { parseManifest } from "../../../src/archive/manifest.ts";
import { fail } from "../../../src/lib/result.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { backUp } from "../../../src/operator/backup/backup.ts";
import { restore } from "../../../src/operator/backup/restore.ts";
import { FileError, ignoreFileError } from "../../../src/runtime/files.ts";
import { profileOf } from "../../reference/profiles.ts";
import { answerBytes } from "../../support/answers/answer-bytes.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import { copyNoSqlite } from "../../support/disk/memory-sqlite.ts";
import { createMirroredDisk, SIMULATED_DATA_DIR } from "../../support/disk/mirrored-disk.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import { drawSome, randomRuns } from "../../support/random-runs.ts";
import type { Report } from "../../support/reports/batches.ts";
import { seededRandom } from "../../support/seeded-random.ts";

/**
 * Goal: whatever happens during a backup, there is a backup: the former one or the new one, whole. Method: a data
 * directory is backed up at two moments of a story, between which days are sealed, folded, expired and trimmed, and
 * profiles of devices change. The second backup runs again and again from the same disk; each time the power fails, the
 * disk refuses or is full, or the server seals, at another of its operations. What is restored then must be one of the
 * two moments, file by file.
 */

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 15, 12);
const BACKUP = "/backup";
const RESTORED = "/restored";
/** How many operations are tried of each kind; `npm test -- --runs 20 FILE` tries all. */
const CASES_MAX = randomRuns(60);
/** The number for tests that open a whole service each time. */
const SEAL_CASES_MAX = randomRuns(10);

type Contents = ReadonlyMap<string, Uint8Array>;

const clock = createManualClock(START_MS);
/** The whole disk after the first backup; the data directory then, and later. */
let afterFirst: Contents;
let firstData: Contents;
let secondData: Contents;

beforeAll(async () => {
  const disk = createSimulatedFiles();
  const app = await openOn(disk);
  await app.store(reportsOf(0));
  await setName(app, "a", "Bus 42");
  clock.advance(9 * DAY_MS);
  await app.store(reportsOf(9));
  await app.seal();
  await app.store([...reportsOf(9, 6), ...reportsOf(0, 3)]);
  await setName(app, "silent", "Depot");
  await disk.makeDirectory("/data/damaged");
  await disk.replace("/data/damaged/x.damaged", new Uint8Array(3));
  await disk.replace("/data/keys.json", text({ version: 4, keys: [] }));
  firstData = dataOf(disk.contents(), SIMULATED_DATA_DIR);
  expect(await runBackup(disk)).toMatchObject({ ok: true });
  afterFirst = disk.contents();

  clock.advance(DAY_MS);
  await app.store(reportsOf(10));
  await setName(app, "a", "Bus 43");
  await app.seal();
  clock.advance(356 * DAY_MS);
  await app.store(reportsOf(366));
  await app.seal(); // The first day expires.
  await app.store(reportsOf(366, 7));
  await setName(app, "silent", null);
  await disk.replace("/data/damaged/y.damaged", new Uint8Array(4));
  await disk.replace("/data/damaged/acknowledged.json", text({ version: 1, files: [] }));
  await disk.replace("/data/keys.json", text({ version: 4, keys: [], more: true }));
  secondData = dataOf(disk.contents(), SIMULATED_DATA_DIR);
  await app.close();
  const parts = (data: Contents) => [...data.keys()].filter((path) => path.endsWith(".parquet"));
  const standing = (data: Contents) => [...data.keys()].filter((path) => path.includes("/standing/"));
  expect([firstData, secondData].map((data) => standing(data).length)).toEqual([1, 1]);
  expect(standing(firstData)).not.toEqual(standing(secondData));
  const manifest = parseManifest(secondData.get("archive/manifest.json")!);
  expect(
    manifest.ok && [...manifest.value.expired.values()].some(({ parts: { length } }) => length > 0),
  ).toBe(true);
  expect(parts(firstData).every((path) => secondData.has(path))).toBe(false);
});
afterAll(removeArchiveApps);

async function openOn(disk: SimulatedFiles): Promise<ArchiveApp> {
  return createArchiveApp({ clock, dataDir: SIMULATED_DATA_DIR, disk: createMirroredDisk(disk) });
}

async function setName({ directory }: ArchiveApp, deviceId: string, name: string | null): Promise<void> {
  const profile = name === null ? null : profileOf({ name });
  const edited = await directory.editProfile("fleet" as AppId, deviceId as DeviceId, profile);
  expect(edited.ok).toBe(true);
}

function reportsOf(day: number, hour = 0): Report[] {
  const timestamp = START_MS + day * DAY_MS - (12 - hour) * 3_600_000;
  return ["a", "b", "c"].map((device_id) => ({ device_id, timestamp, latitude: 42, longitude: hour }));
}

function text(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** The files of a data directory that make it up, by their places in it. */
function dataOf(contents: Contents, directory: string): Contents {
  const isOurs = (file: string) => !/^(lock|first-key|backup\.json|archive\/scratch\/.*)$/.test(file);
  return new Map(
    [...contents]
      .filter(([path]) => path.startsWith(`${directory}/`))
      .map(([path, bytes]) => [path.slice(directory.length + 1), bytes] as const)
      .filter(([file]) => isOurs(file))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The disk after the first backup, with the data directory as it was later. */
function createDisk(): SimulatedFiles {
  const contents = new Map([...afterFirst].filter(([path]) => path.startsWith(`${BACKUP}/`)));
  for (const [file, bytes] of secondData) contents.set(`${SIMULATED_DATA_DIR}/${file}`, bytes);
  return createSimulatedFiles(contents);
}

function runBackup(files: SimulatedFiles) {
  return backUp({
    copySqlite: copyNoSqlite,
    files,
    clock,
    program: "1",
    dataDir: SIMULATED_DATA_DIR,
    directory: BACKUP,
    async take(directory) {
      await files.makeDirectory(directory);
      return () => {};
    },
    onProgress: () => {},
  });
}

function runRestore(files: SimulatedFiles) {
  return restore({
    files,
    directory: BACKUP,
    dataDir: RESTORED,
    async take(directory) {
      await files.makeDirectory(directory);
      return () => {};
    },
    onProgress: () => {},
  });
}

/** What restoring gives: one of the two moments by its number, or all that is wrong. */
async function restoredMoment(files: SimulatedFiles): Promise<unknown> {
  const restored = await runRestore(files);
  if (!restored.ok) return restored.error;
  const data = dataOf(files.contents(), RESTORED);
  if (Bun.deepEquals(data, firstData)) return 1;
  return Bun.deepEquals(data, secondData) ? 2 : [...data.keys()];
}

async function countOperations(hinder?: (disk: SimulatedFiles) => void): Promise<number> {
  const disk = createDisk();
  hinder?.(disk);
  let count = 0;
  const before = disk.beforeOperation;
  disk.beforeOperation = (operation, path) => {
    count++;
    return before?.(operation, path);
  };
  expect(await runBackup(disk)).toMatchObject({ ok: true });
  return count;
}

/** A backup after whatever happened is whole, and holds nothing else. */
async function expectNextBackupIsWhole(disk: SimulatedFiles, where: string): Promise<void> {
  expect([where, (await runBackup(disk)).ok]).toEqual([where, true]);
  expect([where, dataOf(disk.contents(), BACKUP)]).toEqual([where, secondData]);
  expect([where, await disk.exists(`${BACKUP}/next`)]).toEqual([where, false]);
}

for (const links of [true, false]) {
  const how = links ? "that links" : "that copies";
  const hinder = (operation: string, path: string) => {
    if (!links && operation === "link") throw new FileError("link", path, "EXDEV");
  };

  test(`a backup ${how} during which the power fails leaves the former or the new one`, async () => {
    const count = await countOperations((disk) => {
      disk.beforeOperation = hinder;
    });
    const moments = new Set<unknown>();
    for (const survives of [false, true]) {
      for (const index of drawSome([...Array(count).keys()], CASES_MAX)) {
        const disk = createDisk();
        let done = 0;
        let found: SimulatedFiles | null = null;
        let where = "";
        disk.beforeOperation = (operation, path) => {
          where = `power fails before operation ${index} of ${count}, ${operation} ${path}`;
          if (done++ === index) found = disk.crash(survives ? seededRandom(index) : undefined);
          else hinder(operation, path);
        };
        const outcome = await runBackup(disk).catch(() => ({ ok: false }));
        expect([where, found !== null, outcome.ok]).toEqual([where, true, false]);
        const moment = await restoredMoment(found!);
        moments.add(moment);
        expect([where, moment === 1 || moment === 2 ? "whole" : moment]).toEqual([where, "whole"]);
        await expectNextBackupIsWhole(found!, where);
      }
    }
    expect(moments).toEqual(new Set([1, 2]));
  });
}

for (const [code, words] of [
  ["EIO", "the disk failed (EIO)"],
  ["ENOSPC", "the disk is full (ENOSPC)"],
] as const) {
  test(`a backup whose disk refuses once with ${code} leaves the former or the new one, and says which`, async () => {
    const count = await countOperations();
    for (const index of drawSome([...Array(count).keys()], CASES_MAX)) {
      const disk = createDisk();
      let done = 0;
      let where = "";
      let refused = "";
      disk.beforeOperation = (operation, path) => {
        if (done++ !== index) return;
        refused = path;
        where = `${code} at operation ${index} of ${count}, ${operation} ${path}`;
        disk.failNext(operation, code);
      };
      const outcome = await runBackup(disk).catch((error: Error) => fail(error.message));
      disk.beforeOperation = null;
      const moment = await restoredMoment(disk);
      if (outcome.ok && outcome.value.problems.length > 0) {
        // A file of the data directory could not be read: it is named, and missing unless the former backup has it.
        const problem = `${refused.slice(`${SIMULATED_DATA_DIR}/`.length)}: it can't be read: ${words}`;
        const isKept = outcome.value.problems[0] === `${problem}; the backup has it`;
        expect([where, ...outcome.value.problems]).toEqual([
          where,
          isKept ? `${problem}; the backup has it` : problem,
        ]);
        if (isKept) expect([where, moment]).toEqual([where, 2]);
        await disk.removeAll(RESTORED);
        continue;
      }
      const isFormer = !outcome.ok && !outcome.error.includes("The new backup");
      expect([where, moment]).toEqual([where, isFormer ? 1 : 2]);
      await disk.removeAll(RESTORED);
      expect([where, (await runBackup(disk)).ok]).toEqual([where, true]);
      expect([where, await restoredMoment(disk)]).toEqual([where, 2]);
    }
  });
}

/** What keeps a new backup's files from their places; of what a failed sync should have written nobody knows. */
const UNSETTLING = {
  "a rename": (_disk: SimulatedFiles, operation: string, path: string) => {
    if (operation === "rename" && path.startsWith(`${BACKUP}/next/`))
      throw new FileError(operation, path, "EIO");
  },
  "a sync": (disk: SimulatedFiles, operation: string, path: string) => {
    if (operation === "syncDirectory" && path === `${BACKUP}/damaged`) disk.failNext(operation, "EIO");
  },
};

for (const [refused, hinder] of Object.entries(UNSETTLING)) {
  test(`a backup that ${refused} kept from its place is restored, whatever happens to the next one`, async () => {
    async function createUnsettled(): Promise<SimulatedFiles> {
      const disk = createDisk();
      disk.beforeOperation = (operation, path) => hinder(disk, operation, path);
      const outcome = await runBackup(disk);
      expect(outcome).toEqual({ ok: false, error: expect.stringContaining("The new backup is complete") });
      disk.beforeOperation = null;
      return disk;
    }
    const trial = await createUnsettled();
    let count = 0;
    trial.beforeOperation = () => void count++;
    expect((await runBackup(trial)).ok).toBe(true);

    for (const fault of ["EIO", "EMFILE", "power"]) {
      for (const index of drawSome([...Array(count).keys()], CASES_MAX)) {
        const disk = await createUnsettled();
        let left: SimulatedFiles | null = null;
        let done = 0;
        let where = "";
        disk.beforeOperation = (operation, path) => {
          if (done++ !== index) return;
          where = `${fault} at operation ${index} of ${count}, ${operation} ${path}`;
          if (fault !== "power") throw new FileError(operation, path, fault);
          left = disk.crash(index % 2 === 0 ? undefined : seededRandom(index));
        };
        await runBackup(disk).catch(ignoreFileError);
        disk.beforeOperation = null;
        const found = left === null ? [createSimulatedFiles(disk.contents()), disk.crash()] : [left];
        for (const each of found) {
          expect([where, await restoredMoment(each)]).toEqual([where, 2]);
          await expectNextBackupIsWhole(each, where);
        }
      }
    }
  });
}

test("a backup on a disk without room leaves the former one, and takes no room itself", async () => {
  const disk = createDisk();
  disk.beforeOperation = (operation, path) => {
    if (operation === "link") throw new FileError("link", path, "EXDEV");
  };
  const before = disk.contents();
  const used = [...before.values()].reduce((sum, { length }) => sum + length, 0);
  for (const roomBytes of [0, 100, 3000, 6000]) {
    disk.capacityBytes = used + roomBytes;
    const outcome = await runBackup(disk);
    expect(outcome).toEqual({ ok: false, error: expect.stringContaining("ENOSPC") });
    expect(outcome).toEqual({
      ok: false,
      error: expect.stringContaining("The backup of 2026-01-24T12:00:00"),
    });
    expect(disk.contents()).toEqual(before);
  }
  disk.capacityBytes = Number.POSITIVE_INFINITY;
  expect(await restoredMoment(disk)).toBe(1);
});

test("a restore during which the power fails makes nothing or all, and can be repeated; one that is done lasts", async () => {
  const disks = () => createSimulatedFiles(afterFirst);
  const trial = disks();
  let count = 0;
  trial.beforeOperation = () => void count++;
  expect((await runRestore(trial)).ok).toBe(true);
  for (const survives of [false, true]) {
    for (let index = 0; index <= count; index++) {
      const where = `power fails before operation ${index} of ${count}`;
      const disk = disks();
      let done = 0;
      let found: SimulatedFiles | null = null;
      const crash = () => disk.crash(survives ? seededRandom(index) : undefined);
      disk.beforeOperation = () => {
        if (done++ === index) found = crash();
      };
      const outcome = await runRestore(disk).catch(() => ({ ok: false }));
      const left = found ?? crash();
      expect([where, outcome.ok]).toEqual([where, index === count]);
      const data = dataOf(left.contents(), RESTORED);
      if (outcome.ok || data.size > 0) expect([where, data]).toEqual([where, firstData]);
      await left.removeAll(RESTORED);
      expect([where, await restoredMoment(left)]).toEqual([where, 1]);
    }
  }
});

test("a seal at any moment of a backup changes nothing of what is restored", async () => {
  const paths = [
    "/api/v1/locations/history?start_date=2026-01-15&end_date=2026-01-25&limit=1000",
    "/api/v1/locations/current?names=true",
    "/api/v1/devices",
    "/api/v1/devices/a/locations/history?start_date=2026-01-15&end_date=2026-01-15",
  ];
  const answersOf = async (app: ArchiveApp) =>
    Promise.all(paths.map(async (path) => `${path} ${await answerBytes(app, path)}`));
  const data = new Map([...firstData].map(([file, bytes]) => [`${SIMULATED_DATA_DIR}/${file}`, bytes]));
  const here = createManualClock(START_MS + 10 * DAY_MS);
  const open = (disk: SimulatedFiles) =>
    createArchiveApp({ clock: here, dataDir: SIMULATED_DATA_DIR, disk: createMirroredDisk(disk) });
  const trial = createSimulatedFiles(data);
  let count = 0;
  trial.beforeOperation = () => void count++;
  expect((await runBackup(trial)).ok).toBe(true);

  for (const index of drawSome([...Array(count).keys()], SEAL_CASES_MAX)) {
    const disk = createSimulatedFiles(data);
    const app = await open(disk);
    const expected = await answersOf(app);
    let done = 0;
    let sealed = "not sealed";
    let isSealing = false;
    disk.beforeOperation = async (operation, path) => {
      if (isSealing || done++ !== index) return;
      isSealing = true;
      sealed = `sealed before operation ${index} of ${count}, ${operation} ${path}`;
      expect((await app.seal()).records).toBeGreaterThan(0);
    };
    const outcome = await runBackup(disk);
    disk.beforeOperation = null;
    expect([isSealing, sealed, outcome.ok]).toEqual([true, sealed, true]);
    expect(await answersOf(app)).toEqual(expected);
    await app.close();

    expect([sealed, (await runRestore(disk)).ok]).toEqual([sealed, true]);
    const restored = [...dataOf(disk.contents(), RESTORED)];
    const copy = createSimulatedFiles(
      new Map(restored.map(([file, bytes]) => [`${SIMULATED_DATA_DIR}/${file}`, bytes])),
    );
    const again = await open(copy);
    expect([sealed, ...(await answersOf(again))]).toEqual([sealed, ...expected]);
    expect([sealed, ...again.notes]).toEqual([sealed]);
    await again.close();
  }
});
