import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import { drawSome, randomRuns } from "../../support/random-runs.ts";
import { outcome } from "../../support/rejection.ts";
import type { Report } from "../../support/reports/batches.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  answersOf,
  archivedFiles,
  at,
  DAY_MS,
  type DiskOperation,
  dateOf,
  failPower,
  openOn,
  operationsOf,
  refuseOnce,
  report,
  START_MS,
} from "./seal-faults.ts";

/**
 * Goal: whatever the disk does during a seal, nothing acknowledged is lost, nothing is there twice, and the next seal
 * makes everything good. Method: a story ends before a seal that has everything to do: a day becomes due, late
 * reports are folded into one that is sealed, a day leaves the retention, the files of another are deleted, the log is
 * trimmed. That seal runs again and again from the same disk; each time the power fails, or the disk refuses, at
 * another of its operations. Afterwards every endpoint must answer as a service that never seals.
 *
 * Some operations are tried, drawn evenly from all of them; `npm test -- --runs 20 FILE` tries each.
 */

const CASES_MAX = randomRuns(8);

const clock = createManualClock(START_MS);
let oracle: ArchiveApp;
let before: ReadonlyMap<string, Uint8Array>;
let expected: readonly string[];
let operations: readonly DiskOperation[];

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

const DATES = [-364, -363, -361, -250, -200, -13, -12, -1, 2, 4, 9].map(dateOf);

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

beforeAll(async () => {
  oracle = await createArchiveApp({ clock });
  const disk = createSimulatedFiles();
  const app = await openOn(disk, clock);
  for (const { days, reports, seals } of STORY) {
    clock.advance(days * DAY_MS);
    await oracle.store(reports);
    await app.store(reports);
    if (seals) await app.seal();
  }
  await app.close();
  before = disk.contents();
  expected = await answersOf(oracle, PATHS);

  const trial = createSimulatedFiles(before);
  const sealing = await openOn(trial, clock);
  expect(await answersOf(sealing, PATHS)).toEqual(expected as string[]);
  operations = await operationsOf(trial, async () => {
    const { days, expired, deleted, logBytes } = await sealing.seal();
    expect([days.length, expired.length, deleted.length]).toEqual([5, 1, 1]);
    expect(logBytes).toBeGreaterThan(0);
  });
  expect(await answersOf(sealing, PATHS)).toEqual(expected as string[]);
  await sealing.close();
});

afterAll(async () => {
  await oracle.close();
  await removeArchiveApps();
});

/**
 * A disk that has been through it all answers right, and after one more seal holds nothing that should not be there.
 */
async function expectGood(disk: SimulatedFiles, where: string): Promise<void> {
  const app = await openOn(disk, clock);
  expect([where, ...(await answersOf(app, PATHS))]).toEqual([where, ...expected]);
  await app.seal();
  expect([where, ...(await answersOf(app, PATHS))]).toEqual([where, ...expected]);
  const { inFolders, named } = archivedFiles(app, disk, /^(day=|latest)/);
  expect([where, ...inFolders]).toEqual([where, ...named]);
  const expiring = [...app.directory.archive.manifest.expired.values()].filter(
    ({ parts }) => parts.length > 0,
  );
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
        const random = survives ? seededRandom(index) : undefined;
        const left = await failPower({ clock, before }, index, random);
        expect([where, left !== null]).toEqual([where, true]);
        await expectGood(left!, where);
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
        const { disk, app } = await refuseOnce({ clock, before }, index, code);
        expect([where, ...(await answersOf(app, PATHS))]).toEqual([where, ...expected]);
        await app.close();
        await expectGood(disk, where);
      }
    });
  }
});

test("a disk that stays full lets no seal through, and questions go on", async () => {
  const disk = createSimulatedFiles(before);
  const app = await openOn(disk, clock);
  let used = 0;
  for (const bytes of disk.contents().values()) used += bytes.length;
  disk.capacityBytes = used;
  expect(await outcome(app.seal())).toThrow("ENOSPC");
  await app.seal().catch(() => undefined);
  expect(await answersOf(app, PATHS)).toEqual(expected as string[]);
  disk.capacityBytes = Number.POSITIVE_INFINITY;
  await app.close();
  await expectGood(disk, "after the disk was full");
});

test("reports that come at any moment of a seal are there once, at once and after a restart", async () => {
  for (const index of drawSome([...operations.keys()], CASES_MAX)) {
    const disk = createSimulatedFiles(before);
    let app = await openOn(disk, clock);
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
