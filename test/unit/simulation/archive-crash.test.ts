import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { answerBytes } from "../../support/answers/answer-bytes.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import { createMirroredDisk, SIMULATED_DATA_DIR } from "../../support/disk/mirrored-disk.ts";
import {
  createSimulatedFiles,
  type FileOperation,
  type SimulatedFiles,
} from "../../support/disk/simulated-files.ts";
import { drawSome, randomRuns } from "../../support/random-runs.ts";
import { outcome } from "../../support/rejection.ts";
import type { Report } from "../../support/reports/batches.ts";
import { seededRandom } from "../../support/seeded-random.ts";

/**
 * Goal: whatever the disk does during a seal, nothing acknowledged is lost, nothing is there twice, and the next seal
 * makes everything good. Method: a story ends before a seal that has everything to do: a day becomes due, late
 * reports are folded into one that is sealed, a day leaves the retention, the files of another are deleted, the log is
 * trimmed. That seal runs again and again from the same disk; each time the power fails, or the disk refuses, at
 * another of its operations. Afterwards every endpoint must answer as a service that never seals.
 *
 * Some operations are tried, drawn evenly from all of them; `npm test -- --runs 20 FILE` tries each.
 */

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 15, 12);
const CASES_MAX = randomRuns(8);

const clock = createManualClock(START_MS);
let oracle: ArchiveApp;
let before: ReadonlyMap<string, Uint8Array>;
let expected: readonly string[];
let operations: readonly { operation: FileOperation; path: string }[];

function at(day: number, hour: number): number {
  return Date.UTC(2026, 0, 15) + day * DAY_MS + hour * 3_600_000;
}

function report(device_id: string, timestamp: number, more: Report = {}): Report {
  return { device_id, timestamp, latitude: 42 + (timestamp % 97) / 100, longitude: -71, ...more };
}

/** What happens, up to the seal that is tried. */
const STORY: readonly {
  readonly days: number;
  readonly reports: readonly Report[];
  readonly seals: boolean;
}[] = [
  {
    days: 0,
    seals: true,
    reports: [
      report("old", at(-363, 5), { user_id: "u" }),
      report("a", at(-361, 5), { user_id: "u" }),
      report("silent", at(-200, 5), { user_id: "v", speed: 3 }),
      ...[0, 6, 12, 18].map((hour) => report("a", at(-13, hour), { user_id: "u", battery_level: hour })),
      report("b", at(-13, 3), { user_id: "u" }),
      report("b", at(-12, 3)),
      report("a", at(-1, 3), { user_id: "v" }),
    ],
  },
  { days: 3, seals: true, reports: [report("b", at(2, 1), { user_id: "v" })] },
  {
    days: 2,
    seals: false,
    reports: [
      report("a", at(-13, 6), { altitude: 5 }), // Laid over what is sealed: it keeps its user.
      report("a", at(-13, 7), { user_id: "w" }),
      report("b", at(-13, 3), { user_id: "v" }), // Changes hands.
      report("silent", at(-200, 5), { speed: 4 }), // The newest of a device that nothing else is known of.
      report("new", at(-250, 1)),
      report("a", at(4, 9), { user_id: "u" }),
    ],
  },
  { days: 5, seals: false, reports: [report("b", at(9, 20))] },
];

const DATES = [-364, -363, -361, -250, -200, -13, -12, -1, 2, 4, 9].map((day) =>
  new Date(at(day, 0)).toISOString().slice(0, 10),
);

const PATHS = [
  ...DATES.flatMap((date) => [
    `/api/v1/locations/history?start_date=${date}&end_date=${date}`,
    `/api/v1/devices/a/locations/history?start_date=${date}&end_date=${date}&distance_travelled=true`,
  ]),
  ...["u", "v", "w"].flatMap((user) => [
    `/api/v1/users/${user}/locations/history?start_date=${DATES[1]}&end_date=${DATES.at(-1)}`,
    `/api/v1/users/${user}/locations/current`,
    `/api/v1/users/${user}/devices`,
  ]),
  `/api/v1/locations/history?start_date=${DATES[1]}&end_date=${DATES.at(-1)}&order=desc&offset=2`,
  "/api/v1/locations/current",
  "/api/v1/devices/silent/locations/current",
  "/api/v1/devices/nearby?latitude=42.5&longitude=-71&radius_miles=50&max_age_hours=9000",
];

async function openOn(disk: SimulatedFiles): Promise<ArchiveApp> {
  return createArchiveApp({ clock, dataDir: SIMULATED_DATA_DIR, disk: createMirroredDisk(disk) });
}

async function answersOf(app: ArchiveApp): Promise<string[]> {
  const answers: string[] = [];
  for (const path of PATHS) answers.push(`${path}\n${await answerBytes(app, path)}`);
  return answers;
}

beforeAll(async () => {
  oracle = await createArchiveApp({ clock });
  const disk = createSimulatedFiles();
  const app = await openOn(disk);
  for (const { days, reports, seals } of STORY) {
    clock.advance(days * DAY_MS);
    await oracle.store(reports);
    await app.store(reports);
    if (seals) await app.seal();
  }
  await app.close();
  before = disk.contents();
  expected = await answersOf(oracle);

  const counted: { operation: FileOperation; path: string }[] = [];
  const trial = createSimulatedFiles(before);
  const sealing = await openOn(trial);
  expect(await answersOf(sealing)).toEqual(expected as string[]);
  trial.beforeOperation = (operation, path) => void counted.push({ operation, path });
  const sealed = await sealing.seal();
  trial.beforeOperation = null;
  expect([sealed.days.length, sealed.expired.length, sealed.deleted.length]).toEqual([5, 1, 1]);
  expect(sealed.logBytes).toBeGreaterThan(0);
  expect(await answersOf(sealing)).toEqual(expected as string[]);
  await sealing.close();
  operations = counted;
});

afterAll(async () => {
  await oracle.close();
  removeArchiveApps();
});

/**
 * A disk that has been through it all answers right, and after one more seal holds nothing that should not be there.
 */
async function expectGood(disk: SimulatedFiles, where: string): Promise<void> {
  const app = await openOn(disk);
  expect([where, ...(await answersOf(app))]).toEqual([where, ...expected]);
  await app.seal();
  expect([where, ...(await answersOf(app))]).toEqual([where, ...expected]);
  const { days, latest, expired } = app.directory.archive.manifest;
  const ofDays = [...days.values(), ...expired.values()].flatMap(({ parts }) => parts);
  const named = [...ofDays, ...(latest ?? [])].map(({ file }) => file);
  const inFolders = [...disk.contents().keys()]
    .filter((path) => /^\/data\/archive\/(day=|latest)/.test(path))
    .map((path) => path.slice("/data/archive/".length));
  expect([where, ...inFolders.sort()]).toEqual([where, ...named.sort()]);
  const expiring = [...expired.values()].filter(({ parts }) => parts.length > 0);
  expect([where, expiring.length]).toEqual([where, 1]);
  expect(app.directory.hot.recordCount).toBe(2); // Of the window: all else is sealed.
  await app.close();
}

describe("a seal during which the power fails", () => {
  for (const survives of [false, true]) {
    test(`loses nothing, ${survives ? "with some" : "without any"} of what was not synced`, async () => {
      for (const index of drawSome([...operations.keys()], CASES_MAX)) {
        const { operation, path } = operations[index]!;
        const where = `power fails before operation ${index} of ${operations.length}, ${operation} ${path}`;
        const disk = createSimulatedFiles(before);
        const app = await openOn(disk);
        let count = 0;
        let found: SimulatedFiles | null = null;
        disk.beforeOperation = () => {
          if (count++ === index) found = disk.crash(survives ? seededRandom(index) : undefined);
        };
        await app.seal().catch(() => undefined);
        await app.close().catch(() => undefined);
        expect([where, found !== null]).toEqual([where, true]);
        await expectGood(found!, where);
      }
    });
  }
});

describe("a seal during which the disk refuses once", () => {
  for (const code of ["EIO", "ENOSPC"]) {
    test(`with ${code} changes no answer, and the next one is whole`, async () => {
      for (const index of drawSome([...operations.keys()], CASES_MAX)) {
        const { operation, path } = operations[index]!;
        const where = `${code} at operation ${index} of ${operations.length}, ${operation} ${path}`;
        const disk = createSimulatedFiles(before);
        const app = await openOn(disk);
        let count = 0;
        disk.beforeOperation = (each) => {
          if (count++ === index) disk.failNext(each, code);
        };
        await app.seal().catch(() => undefined);
        disk.beforeOperation = null;
        expect([where, ...(await answersOf(app))]).toEqual([where, ...expected]);
        await app.close();
        await expectGood(disk, where);
      }
    });
  }
});

test("a disk that stays full lets no seal through, and questions go on", async () => {
  const disk = createSimulatedFiles(before);
  const app = await openOn(disk);
  let used = 0;
  for (const bytes of disk.contents().values()) used += bytes.length;
  disk.capacityBytes = used;
  expect(await outcome(app.seal())).toThrow("ENOSPC");
  await app.seal().catch(() => undefined);
  expect(await answersOf(app)).toEqual(expected as string[]);
  disk.capacityBytes = Number.POSITIVE_INFINITY;
  await app.close();
  await expectGood(disk, "after the disk was full");
});

test("reports that come at any moment of a seal are there once, at once and after a restart", async () => {
  for (const index of drawSome([...operations.keys()], CASES_MAX)) {
    const disk = createSimulatedFiles(before);
    let app = await openOn(disk);
    let count = 0;
    let posting: Promise<void> = Promise.resolve();
    const late = [
      report("a", at(-13, 6), { altitude: 9 }),
      report("a", at(-13, 8)),
      report("c", at(4, 9), { user_id: "z" }),
    ];
    disk.beforeOperation = () => {
      if (count++ === index) posting = app.store(late);
    };
    await app.seal();
    disk.beforeOperation = null;
    await posting;
    const ofDay = `/api/v1/devices/a/locations/history?start_date=${DATES[5]}&end_date=${DATES[5]}`;
    for (let time = 0; time < 3; time++) {
      const { body } = await app.get(ofDay);
      const where = `posted at operation ${index} of ${operations.length}, asked ${time}`;
      const hours = body.locations.map(({ timestamp }) => (Number(timestamp) - at(-13, 0)) / 3_600_000);
      expect([where, ...hours]).toEqual([where, 0, 6, 7, 8, 12, 18]);
      expect(body.locations[1]).toMatchObject({ altitude: 9, user_id: "u", battery_level: 6 });
      expect((await app.get("/api/v1/users/z/devices")).body.device_count).toBe(1);
      if (time === 0) app = await app.restart();
      else await app.seal();
    }
    await app.close();
  }
});
