import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AppId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { clearedOf } from "../../../src/service/upkeep/seal/seal.ts";
import { scanLog } from "../../../src/wal/read-log.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import { SIMULATED_DATA_DIR } from "../../support/disk/mirrored-disk.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import { eraseFrom } from "../../support/erase.ts";
import { drawSome, randomRuns } from "../../support/random-runs.ts";
import type { Report } from "../../support/reports/batches.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { APP_ID } from "../../support/test-app.ts";
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
 * Goal: whatever the disk does while a seal erases, answers are those of a service that never had the erased records,
 * nothing else is lost, and a later seal makes the files so. Method: a story ends before a seal that erases a device
 * from days with other records, from one that has nothing else, from one with late rows, from one that has expired,
 * and that archives what the device reported since. That seal runs again and again from the same disk; each time the
 * power fails, or the disk refuses, at another of its operations.
 *
 * Some operations are tried, drawn evenly from all of them; `npm test -- --runs 20 FILE` tries each.
 */

const CASES_MAX = randomRuns(6);

const clock = createManualClock(START_MS);
let oracle: ArchiveApp;
let before: ReadonlyMap<string, Uint8Array>;
let expected: readonly string[];
let erasedSequence: number;
let operations: readonly DiskOperation[];

const OTHERS: readonly Report[] = [
  report("a", at(-364, 6), { user_id: "u" }),
  report("a", at(-40, 6), { user_id: "u" }),
  report("a", at(-13, 6), { user_id: "u" }),
  report("b", at(-13, 9), { user_id: "v" }),
  report("b", at(-12, 9)),
];

/** Reported before the erasure. */
const GONE: readonly Report[] = [
  report("gone", at(-364, 5), { user_id: "u" }),
  report("gone", at(-100, 5), { user_id: "w" }), // Of a day that has nothing else.
  ...[3, 6, 9].map((hour) => report("gone", at(-40, hour), { user_id: "u", speed: hour })),
  report("gone", at(-13, 6), { user_id: "v", battery_level: 9 }),
  report("gone", at(-12, 6)),
];

/** Reported since: some at instants of before. */
const ANEW: readonly Report[] = [
  report("gone", at(-13, 6), { user_id: "z" }),
  report("gone", at(-13, 7)),
  report("a", at(-12, 7)),
];

const DATES = [-364, -100, -40, -13, -12, -1, 1].map(dateOf);

const PATHS = [
  ...DATES.map((date) => `/api/v1/locations/history?start_date=${date}&end_date=${date}`),
  ...["gone", "a"].map(
    (id) => `/api/v1/devices/${id}/locations/history?start_date=${DATES[0]}&end_date=${DATES.at(-1)}`,
  ),
  ...["u", "v", "w", "z"].map(
    (user) => `/api/v1/users/${user}/locations/history?start_date=${DATES[0]}&end_date=${DATES.at(-1)}`,
  ),
  `/api/v1/locations/history?start_date=${DATES[0]}&end_date=${DATES.at(-1)}&order=desc&offset=2`,
  "/api/v1/locations/current",
];

beforeAll(async () => {
  oracle = await createArchiveApp({ clock });
  const disk = createSimulatedFiles();
  const app = await openOn(disk, clock);
  await oracle.store([...OTHERS]);
  await app.store([...OTHERS, ...GONE]);
  await app.seal();
  const late = report("b", at(-40, 9), { altitude: 3 });
  await oracle.store([late]);
  await app.store([late, report("gone", at(-40, 11))]);
  clock.advance(2 * DAY_MS); // A day expires.
  await app.seal();
  const later = report("b", at(-13, 9), { altitude: 5 });
  await oracle.store([later]);
  await app.store([later, report("gone", at(-13, 12))]);
  erasedSequence = await eraseFrom(app, { deviceId: "gone" });
  await oracle.store([...ANEW]);
  await app.store([...ANEW]);
  expected = await answersOf(oracle, PATHS);
  expect(await answersOf(app, PATHS)).toEqual(expected as string[]);
  await app.close();
  before = disk.contents();

  const trial = createSimulatedFiles(before);
  const sealing = await openOn(trial, clock);
  expect(await answersOf(sealing, PATHS)).toEqual(expected as string[]);
  operations = await operationsOf(trial, async () => {
    const { erased } = await sealing.seal();
    expect(erased).toMatchObject({ records: 8, left: 0, damaged: [], sequence: erasedSequence + 1 });
    expect(erased?.days.length).toBe(5);
    expect(erased?.files.filter(({ fileAfter }) => fileAfter === null).length).toBe(1);
  });
  await expectErased(sealing, "a seal that nothing disturbs");
  await sealing.close();
});

afterAll(async () => {
  await oracle.close();
  await removeArchiveApps();
});

/** Files have nothing of what was erased: answers are right without the masks. */
async function expectErased(app: ArchiveApp, where: string): Promise<void> {
  const { hot, archive } = app.directory;
  const behind = [...clearedOf(archive.manifest).values()].filter((sequence) => sequence < erasedSequence);
  expect([where, behind]).toEqual([where, []]);
  hot.erasures.finish(erasedSequence);
  expect([where, ...(await answersOf(app, PATHS))]).toEqual([where, ...expected]);
}

/** A disk that has been through it all answers right, and after one more seal has nothing that should not be there. */
async function expectGood(disk: SimulatedFiles, where: string): Promise<void> {
  const app = await openOn(disk, clock);
  expect([where, ...(await answersOf(app, PATHS))]).toEqual([where, ...expected]);
  await app.seal();
  expect([where, ...(await answersOf(app, PATHS))]).toEqual([where, ...expected]);
  const { inFolders, named } = archivedFiles(app, disk, /^(day=|latest|expired)/);
  expect([where, ...inFolders]).toEqual([where, ...named]); // Nothing is moved aside, either.
  await expectErased(app, where);
  await app.close();
}

describe("a seal that erases, during which the power fails", () => {
  for (const survives of [false, true]) {
    test(`shows nothing of it, ${survives ? "with some" : "without any"} of what was not synced`, async () => {
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

  test("and that takes the manifest, too, shows nothing of it", async () => {
    for (const index of drawSome([...operations.keys()], CASES_MAX)) {
      const { operation, path } = operations[index]!;
      const where = `no manifest after operation ${index} of ${operations.length}, ${operation} ${path}`;
      const left = new Map((await failPower({ clock, before }, index))!.contents());
      left.delete("/data/archive/manifest.json");
      await expectGood(createSimulatedFiles(left), where);
    }
  });
});

describe("a seal that erases, during which the disk refuses once", () => {
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

/** A disk with one report, which is erased, and nothing else. */
async function firstErasure(): Promise<ReadonlyMap<string, Uint8Array>> {
  const disk = createSimulatedFiles();
  const app = await openOn(disk, clock);
  await app.store([report("gone", at(1, 6), { user_id: "u" })]);
  await eraseFrom(app, { userId: "u" });
  await app.close();
  return disk.contents();
}

async function expectNothingInLog(
  disk: SimulatedFiles,
  beforeSequence: number,
  where: string,
): Promise<void> {
  for await (const entry of scanLog(disk, `${SIMULATED_DATA_DIR}/wal`)) {
    expect([where, entry.kind]).not.toEqual([where, "erasure"]);
    if (entry.kind !== "reports" || entry.sequence > beforeSequence) continue;
    const devices = [...entry.batch.device].map((device) => entry.batch.texts[device]);
    expect([where, devices]).not.toEqual([where, expect.arrayContaining(["gone"])]);
  }
}

test.each(["after a long story", "the first of a directory"])(
  "an erasure that the disk refuses to finish is finished later, and leaves nothing in the log: %s",
  async (story) => {
    const start = story === "after a long story" ? before : await firstErasure();
    const options = { dropsDamaged: false, onDaysLeft: () => undefined };
    const finish = (app: ArchiveApp) => app.directory.eraser.finishNow(options).catch(String);
    const whole = createSimulatedFiles(start);
    const undisturbed = await openOn(whole, clock);
    const { sequence } = undisturbed.directory.hot.erasures.pending()[0]!;
    const finishing = await operationsOf(whole, async () => expect(await finish(undisturbed)).toBeNull());
    await undisturbed.close();
    for (const index of drawSome([...finishing.keys()], 2 * CASES_MAX)) {
      const { operation, path } = finishing[index]!;
      const where = `EIO at operation ${index} of ${finishing.length}, ${operation} ${path}`;
      const disk = createSimulatedFiles(start);
      let app = await openOn(disk, clock);
      let count = 0;
      disk.beforeOperation = (each) => {
        if (count++ === index) disk.failNext(each, "EIO");
      };
      const obstacle = await finish(app);
      disk.beforeOperation = null;
      if (obstacle !== null) {
        if (index % 2 === 0) app = await app.restart();
        expect([where, await finish(app)]).toEqual([where, null]);
      }
      await expectNothingInLog(disk, sequence, where);
      const [state] = app.directory.eraser.list(APP_ID as AppId);
      expect([where, state?.finishedMs]).toEqual([where, clock.nowMs()]);
      await app.close();
    }
  },
);
