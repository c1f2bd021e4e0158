// Goal: a trim removes what pending erasures erase from every closed segment, and nothing else that is not covered,
// through failures and power losses at each operation of the disk. Method: random logs of a few devices, users and
// days, with erasures at random places, against a list of all reports.

import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { isErased, type PendingErasure } from "../../../src/model/erasure.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import { PROFILE_FIELDS, profileIndex } from "../../../src/model/location-fields.ts";
import { NOT_CARRIED } from "../../../src/model/report-batch.ts";
import { type UtcDay, utcDayOf, utcDayStartMs } from "../../../src/model/time/utc-day.ts";
import { FileError } from "../../../src/runtime/files.ts";
import type { TrimmedLog } from "../../../src/wal/closed-segments.ts";
import type { Coverage } from "../../../src/wal/coverage.ts";
import type { LogEntry } from "../../../src/wal/entry/entry.ts";
import type { Wal } from "../../../src/wal/log.ts";
import { inspectLog } from "../../../src/wal/read-log.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import * as fc from "../../support/fast-check.ts";
import { outcome } from "../../support/rejection.ts";
import { batchOf } from "../../support/reports/batches.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { APP, appendNamed, LOG, namedBatch, openTestWal, segmentPaths } from "./fixture.ts";

interface LoggedReport {
  readonly sequence: number;
  readonly deviceId: string;
  readonly userId: string | null;
  readonly timestampMs: number;
}

const DEVICES = ["van-a", "van-b", "van-c"] as const;
const USERS = ["ann-u", "ben-v", null] as const;
const OTHER_APP = "other" as AppId;

/** Devices and users of reports by index, their days, from 1, and instants of the day, which are new by default. */
type ReportChoice = readonly [device: number, user: number, day: number, instant?: number];

type Step =
  | { readonly kind: "reports"; readonly reports: readonly ReportChoice[] }
  | { readonly kind: "rotate" | "profile" }
  | { readonly kind: "erasure"; readonly scope: Omit<PendingErasure, "sequence"> };

const DAYS = 4;

/** The first instant of a day that is numbered small for reading. */
function dayStartMs(day: number): number {
  return utcDayStartMs((20_000 + day) as UtcDay);
}

/** The small number of a day. */
function dayOf(timestampMs: number): number {
  return utcDayOf(timestampMs) - 20_000;
}

const scope: fc.Arbitrary<Omit<PendingErasure, "sequence">> = fc
  .record({
    appId: fc.constantFrom(APP, APP, APP, OTHER_APP),
    deviceIds: fc.uniqueArray(fc.constantFrom(...DEVICES), { minLength: 1, maxLength: 2 }),
    userId: fc.constantFrom(null, ...USERS),
    days: fc.option(fc.tuple(fc.integer({ min: 0, max: DAYS }), fc.integer({ min: 0, max: DAYS }))),
  })
  .map(({ appId, deviceIds, userId, days }) => ({
    appId,
    deviceIds: userId === null ? (deviceIds as readonly string[] as DeviceId[]) : [],
    userId: userId as UserId | null,
    range: {
      startMs: days === null ? Number.NEGATIVE_INFINITY : dayStartMs(Math.min(...days)) + 3,
      endMs: days === null ? Number.POSITIVE_INFINITY : dayStartMs(Math.max(...days) + 1),
    },
  }));

const report: fc.Arbitrary<ReportChoice> = fc.tuple(
  fc.nat(DEVICES.length - 1),
  fc.nat(USERS.length - 1),
  fc.integer({ min: 1, max: DAYS }),
  fc.nat(5),
);

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .array(report, { minLength: 1, maxLength: 4 })
        .map((reports) => ({ kind: "reports" as const, reports })),
    },
    { weight: 2, arbitrary: fc.constant({ kind: "rotate" as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: "profile" as const }) },
    { weight: 2, arbitrary: scope.map((each) => ({ kind: "erasure" as const, scope: each })) },
  ),
  { maxLength: 20 },
);

/** A log, and what was put into it. */
interface TestLog {
  readonly wal: Wal;
  readonly reports: readonly LoggedReport[];
  readonly erasures: readonly PendingErasure[];
}

/** An entry that stands for an erasure: which entries are erasures the log is told by their sequences. */
const MARK = {
  kind: "device_profile",
  appId: APP,
  deviceId: "mark" as DeviceId,
  profile: { name: "Mark", color: null, icon: null, tags: [], metadata: null },
} as const;

async function createLog(files: SimulatedFiles, story: readonly Step[]): Promise<TestLog> {
  const { wal } = await openTestWal(files, { segmentBytesMax: 1_000_000 });
  const reports: LoggedReport[] = [];
  const erasures: PendingErasure[] = [];
  let instant = 0;
  for (const step of story) {
    if (step.kind === "rotate") await wal.rotate();
    else if (step.kind === "reports") {
      const choices = step.reports.map(([device, user, day, at = instant++]) => ({
        deviceId: DEVICES[device]!,
        userId: USERS[user]!,
        timestampMs: dayStartMs(day) + at,
      }));
      const batch = batchOf(
        choices.map(({ deviceId, userId, timestampMs }) => ({
          device_id: deviceId,
          ...(userId === null ? {} : { user_id: userId }),
          timestamp: timestampMs,
          latitude: 1,
          longitude: 2,
        })),
      );
      const appended = await wal.append(APP, batch);
      if (!appended.ok) throw new Error(appended.error.kind);
      reports.push(...choices.map((choice) => ({ ...choice, sequence: appended.value })));
    } else {
      const deviceId = (step.kind === "profile" ? "profile-of-van" : "mark") as DeviceId;
      const appended = await wal.appendStanding({ ...MARK, deviceId });
      if (!appended.ok) throw new Error(appended.error.kind);
      if (step.kind === "erasure") erasures.push({ ...step.scope, sequence: appended.value });
    }
  }
  return { wal, reports, erasures };
}

/** Covers days by number, to their sequences, and all standing entries. */
function coverage(erasures: readonly PendingErasure[], covered: readonly number[] = []): Coverage {
  return {
    isCovered: (day, lastSequence) => lastSequence <= (covered[day - 20_000] ?? 0),
    isExpired: () => false,
    standingSequence: Number.MAX_SAFE_INTEGER,
    erasures,
  };
}

/** What the log on the disk has: reports, and the sequences of entries of profiles. */
async function readDisk(files: SimulatedFiles) {
  const reports: LoggedReport[] = [];
  const profiles: number[] = [];
  await inspectLog(files, LOG, (entry: LogEntry) => {
    const { sequence } = entry;
    if (entry.kind !== "reports") {
      profiles.push(sequence);
      return;
    }
    const { texts, device, timestampMs, profiles: tuples, profile, count } = entry.batch;
    for (let row = 0; row < count; row++) {
      const user = tuples[profile[row]! * PROFILE_FIELDS.length + profileIndex("user_id")]!;
      const userId = user === NOT_CARRIED ? null : texts[user]!;
      reports.push({ sequence, deviceId: texts[device[row]!]!, userId, timestampMs: timestampMs[row]! });
    }
  });
  return { reports, profiles };
}

/** What is left of reports, which make records that each erasure finds with the last user that is named. */
function leftOf(reports: readonly LoggedReport[], erasures: readonly PendingErasure[]): LoggedReport[] {
  const keyOf = ({ deviceId, timestampMs }: LoggedReport) => `${timestampMs} ${deviceId}`;
  let left = [...reports];
  for (const erasure of erasures) {
    if (erasure.appId !== APP) continue;
    const before = left.filter(({ sequence }) => sequence < erasure.sequence);
    const users = new Map<string, string>();
    for (const each of before) if (each.userId !== null) users.set(keyOf(each), each.userId);
    left = left.flatMap((each) => {
      const { deviceId, timestampMs, sequence, userId } = each;
      if (sequence > erasure.sequence) return [each];
      if (isErased(erasure, deviceId, users.get(keyOf(each)) ?? null, timestampMs)) return [];
      const isNamed = userId !== null && isErased(erasure, deviceId, userId, timestampMs);
      return isNamed && erasure.userId === userId ? [{ ...each, userId: null }] : [each];
    });
  }
  return left;
}

/** The disk's log has all that is neither erased nor covered, and nothing that is erased, also in its bytes. */
async function expectErased(
  files: SimulatedFiles,
  { reports, erasures }: TestLog,
  covered: readonly number[] = [],
): Promise<void> {
  const disk = await readDisk(files);
  const left = leftOf(reports, erasures);
  const mustStay = left.filter(({ timestampMs, sequence }) => sequence > (covered[dayOf(timestampMs)] ?? 0));
  expect(left).toEqual(expect.arrayContaining(disk.reports));
  expect(disk.reports).toEqual(expect.arrayContaining(mustStay));
  expect(disk.profiles).toEqual(expect.arrayContaining(erasures.map(({ sequence }) => sequence)));
  const bytes = Buffer.concat([...files.contents().values()]);
  for (const name of [...DEVICES, ...USERS]) {
    const isLeft = left.some(({ deviceId, userId }) => deviceId === name || userId === name);
    if (name !== null && !isLeft) expect([name, bytes.includes(name)]).toEqual([name, false]);
  }
}

/** Erased reports of the rewritten files, by erasure. */
function erasedIn({ erasing }: TrimmedLog): Record<number, number> {
  const sums: Record<number, number> = {};
  for (const { erased } of erasing.rewritten)
    for (const [sequence, count] of erased) sums[sequence] = (sums[sequence] ?? 0) + count;
  return sums;
}

/** Some days of a device and a user, and an erasure of each, in segments of their own. */
const STORY: readonly Step[] = [
  {
    kind: "reports",
    reports: [
      [0, 0, 1],
      [1, 1, 1],
    ],
  }, // 1
  { kind: "profile" }, // 2
  { kind: "rotate" },
  {
    kind: "reports",
    reports: [
      [1, 1, 2],
      [2, 2, 2],
    ],
  }, // 3
  { kind: "rotate" },
  {
    kind: "reports",
    reports: [
      [0, 0, 2],
      [0, 1, 3],
      [2, 2, 3],
    ],
  }, // 4
  { kind: "erasure", scope: erasureOf({ device: "van-a" }) }, // 5
  {
    kind: "reports",
    reports: [
      [0, 0, 3],
      [1, 1, 3],
    ],
  }, // 6
  { kind: "rotate" },
  { kind: "erasure", scope: erasureOf({ user: "ben-v" }) }, // 7
  { kind: "rotate" },
  { kind: "reports", reports: [[0, 1, 4]] }, // 8
];

function erasureOf({ device, user }: { device?: string; user?: string }): Omit<PendingErasure, "sequence"> {
  return {
    appId: APP,
    deviceIds: device === undefined ? [] : [device as DeviceId],
    userId: (user ?? null) as UserId | null,
    range: { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
  };
}

test("trim() erases what was reported before each erasure, and says how much, and how the files changed", async () => {
  const files = createSimulatedFiles();
  const log = await createLog(files, STORY);
  const sizes = new Map([...files.contents()].map(([path, bytes]) => [path, bytes.length]));
  const trimmed = await log.wal.trim(coverage(log.erasures));
  const disk = files.crash();
  await expectErased(disk, log);
  const { isComplete, rewritten, unsearched } = trimmed.erasing;
  expect([isComplete, unsearched]).toEqual([true, []]);
  expect(erasedIn(trimmed)).toEqual({ 5: 3, 7: 3 });
  expect(rewritten.map(({ path }) => path)).toEqual((await segmentPaths(disk)).slice(0, 3));
  for (const { path, before, after } of rewritten) {
    const bytes = disk.contents().get(path)!;
    expect(before.bytes).toBe(sizes.get(path)!);
    expect(after).toEqual({ bytes: bytes.length, crc: crc32(bytes) });
  }
});

test("trim() erases from every closed segment, and from no other", async () => {
  const covered = fc.array(fc.nat(20), { minLength: DAYS + 1, maxLength: DAYS + 1 });
  await fc.assert(
    fc.asyncProperty(steps, covered, fc.boolean(), async (story, days, isReopened) => {
      const files = createSimulatedFiles();
      const log = await createLog(files, story);
      let { wal } = log;
      if (isReopened) {
        await wal.close();
        ({ wal } = await openTestWal(files));
      } else await wal.rotate();
      const trimmed = await wal.trim(coverage(log.erasures, days));
      expect(trimmed.erasing).toMatchObject({ isComplete: true, unsearched: [] });
      await expectErased(files, log, days);
      const disk = files.crash();
      await expectErased(disk, log, days);
      expect((await openTestWal(disk)).recovery).toMatchObject({ damage: [], tornTail: null });
    }),
  );
});

test("trim() erases each report of a user's records, also if it names another user, and takes the name out of others", async () => {
  const files = createSimulatedFiles();
  const log = await createLog(files, [
    {
      kind: "reports",
      reports: [
        [0, 2, 1, 1],
        [0, 1, 1, 2],
        [0, 1, 1, 3],
      ],
    },
    { kind: "rotate" },
    {
      kind: "reports",
      reports: [
        [0, 1, 1, 1],
        [0, 2, 1, 2],
        [0, 0, 1, 3],
      ],
    },
    { kind: "erasure", scope: erasureOf({ user: "ben-v" }) },
    { kind: "reports", reports: [[0, 2, 1, 1]] },
    { kind: "rotate" },
  ]);
  const trimmed = await log.wal.trim(coverage(log.erasures));
  expect(erasedIn(trimmed)).toEqual({ 3: 4 });
  const { reports } = await readDisk(files);
  expect(
    reports.map(({ sequence, userId, timestampMs }) => [sequence, userId, timestampMs - dayStartMs(1)]),
  ).toEqual([
    [1, null, 3],
    [2, "ann-u", 3],
    [4, null, 1],
  ]);
  await expectErased(files, log);
});

test("trim() knows that a record which an earlier erasure took gives no user to a later report of its instant", async () => {
  for (const first of [{ device: "van-a" }, { user: "ben-v" }]) {
    const files = createSimulatedFiles();
    const log = await createLog(files, [
      { kind: "reports", reports: [[0, 1, 1, 1]] },
      { kind: "erasure", scope: erasureOf(first) },
      { kind: "reports", reports: [[0, 2, 1, 1]] },
      { kind: "erasure", scope: erasureOf({ user: "ben-v" }) },
      { kind: "rotate" },
    ]);
    const trimmed = await log.wal.trim(coverage(log.erasures));
    expect(erasedIn(trimmed)).toEqual({ 2: 1 });
    expect((await readDisk(files)).reports.map(({ sequence }) => sequence)).toEqual([3]);
    await expectErased(files, log);
  }
});

test("trim() rewrites a segment once for an erasure, and again for a later one", async () => {
  const files = createSimulatedFiles();
  const { wal, erasures } = await createLog(files, STORY);
  const [first, second] = erasures;
  const paths = await segmentPaths(files);
  const rewrittenBy = async (pending: readonly PendingErasure[]) =>
    (await wal.trim(coverage(pending))).erasing.rewritten.map(({ path }) => paths.indexOf(path));
  expect(await rewrittenBy([first!])).toEqual([0, 1, 2]);
  expect(await rewrittenBy([first!])).toEqual([]);
  expect(await rewrittenBy([first!, second!])).toEqual([0, 1, 2]);
  expect(await rewrittenBy([second!])).toEqual([]);
  await wal.close();
  const again = await openTestWal(files); // It does not know what was done. The first segment has nothing left.
  expect((await again.wal.trim(coverage([second!]))).erasing.rewritten.length).toBe(2);
});

test("trim() reads no segment in which the erasure has nothing", async () => {
  const files = createSimulatedFiles();
  const { wal, erasures } = await createLog(files, STORY);
  const range = { startMs: dayStartMs(2), endMs: dayStartMs(3) };
  const read: string[] = [];
  files.beforeOperation = (operation, path) => {
    if (operation === "read") read.push(path);
  };
  const paths = await segmentPaths(files);
  const { erasing } = await wal.trim(coverage([{ ...erasures[0]!, range }]));
  expect(read).toEqual(paths.slice(0, 3)); // The first has a profile, which may be of the device.
  expect(erasing.isComplete).toBe(true);
  read.length = 0;
  await wal.trim(coverage([{ ...erasures[1]!, range: { ...range, endMs: range.startMs + 1 } }]));
  expect(read).toEqual([paths[1]!, ...paths.slice(1, 3)]); // First it looks which records are of the user.
});

test("trim() is not complete while the open segment may hold what is erased", async () => {
  const files = createSimulatedFiles();
  const { wal, erasures } = await createLog(files, STORY.slice(0, 7));
  expect((await wal.trim(coverage(erasures))).erasing.isComplete).toBe(false);
  await wal.rotate();
  expect((await wal.trim(coverage(erasures))).erasing.isComplete).toBe(true);
});

test("trim() is not complete before the archive has the standing entries, which may be of the subject", async () => {
  const files = createSimulatedFiles();
  const { wal, erasures } = await createLog(files, STORY);
  const early = await wal.trim({ ...coverage(erasures), standingSequence: 1 });
  expect(early.erasing.isComplete).toBe(false);
  expect((await readDisk(files)).profiles).toContain(2);
  const late = await wal.trim({ ...coverage(erasures), standingSequence: 7 });
  expect(late.erasing.isComplete).toBe(true);
  expect((await readDisk(files)).profiles).toEqual([5, 7]);
});

test("trim() removes no segment with the entry of a pending erasure, and the entry goes once it is finished", async () => {
  const files = createSimulatedFiles();
  const { wal, erasures } = await createLog(files, STORY);
  const all = Array(DAYS + 1).fill(100);
  await wal.trim(coverage(erasures, all));
  expect((await readDisk(files)).profiles).toEqual([5, 7]);
  await wal.trim(coverage(erasures.slice(1), all));
  expect((await readDisk(files)).profiles).toEqual([7]);
  await wal.trim(coverage([], all));
  expect((await readDisk(files)).profiles).toEqual([]);
});

test("trim() writes a segment anew for the entry of a finished erasure, since it names the subject", async () => {
  for (const isReopened of [false, true]) {
    const files = createSimulatedFiles();
    let { wal } = await createLog(files, [{ kind: "reports", reports: [[1, 1, 1]] }]);
    const { appId, deviceIds, userId, range } = erasureOf({ device: "van-a" });
    const erasure = {
      ...{ id: "e_1", block: false, createdMs: 1, createdBy: "k_1", continues: false },
      appId,
      deviceIds,
      userId,
      range,
    };
    await wal.appendStanding({ kind: "erasure", appId, previous: 0, erasure, newest: [], corrections: [] });
    await wal.append(APP, namedBatch("after"));
    if (isReopened) {
      await wal.close();
      ({ wal } = await openTestWal(files));
    } else await wal.rotate();
    const hasName = () =>
      [...files.contents().values()].some((bytes) => Buffer.from(bytes).includes("van-a"));
    await wal.trim(coverage([{ ...erasure, sequence: 2 }]));
    await wal.trim({ ...coverage([]), standingSequence: 1 }); // It may have come since this was planned.
    expect(hasName()).toBe(true);
    await wal.trim({ ...coverage([]), standingSequence: 2 });
    expect(hasName()).toBe(false);
    expect((await openTestWal(files)).found).toEqual(["1 van-b", "3 after"]);
  }
});

test("trim() names the files that it could not search, and erases from the others", async () => {
  for (const when of ["now", "at the start", "damaged"] as const) {
    const files = createSimulatedFiles();
    const log = await createLog(files, STORY);
    const [, middle, third] = await segmentPaths(files);
    let { wal } = log;
    files.beforeOperation = (operation, path) => {
      if (operation === "read" && path === middle) throw new FileError(operation, path, "EIO");
    };
    if (when === "at the start") {
      await wal.close();
      ({ wal } = await openTestWal(files));
    }
    if (when !== "now") files.beforeOperation = null;
    if (when === "damaged") {
      const bytes = files.contents().get(middle!)!;
      bytes[bytes.length - 1]! ^= 1;
      await files.replace(middle!, bytes);
    }
    const odd = `${LOG}/odd.wal`;
    await (await files.openAppend(odd)).close();
    const { erasing } = await wal.trim(coverage(log.erasures));
    expect(erasing.unsearched).toEqual([middle!, odd]);
    // What memory knows of the segment may tell that records of the others are of an erased user.
    expect(erasing.isComplete).toBe(when !== "now");
    expect(erasing.rewritten.length).toBe(2);
    files.beforeOperation = null;
    if (when === "now") {
      const again = await wal.trim(coverage(log.erasures));
      expect(again.erasing.rewritten.map(({ path }) => path)).toEqual([middle!, third!]);
      expect(again.erasing.isComplete).toBe(true);
      await expectErased(files, log);
    }
  }
});

test("trim() names a removed segment that may be back with what was erased", async () => {
  const files = createSimulatedFiles();
  const { wal, erasures } = await createLog(files, STORY);
  files.capacityBytes = 0; // So that nothing can be emptied.
  files.beforeOperation = (operation) => {
    if (operation === "syncDirectory") files.failNext(operation, "EIO");
  };
  const [first] = await segmentPaths(files);
  const covered = [0, 2];
  expect(await outcome(wal.trim(coverage(erasures, covered)))).toThrow(FileError);
  files.beforeOperation = null;
  files.capacityBytes = Number.POSITIVE_INFINITY;
  const { erasing } = await wal.trim(coverage(erasures, covered));
  expect(erasing).toMatchObject({ isComplete: true, unsearched: [first!] });
});

test("a trim that fails anywhere is finished by the next one, which names all that both have rewritten", async () => {
  const whole = await createLog(createSimulatedFiles(), STORY);
  const wanted = erasedIn(await whole.wal.trim(coverage(whole.erasures)));
  for (const operation of ["replace", "syncDirectory"] as const) {
    for (let failAt = 0; failAt < 3; failAt++) {
      const files = createSimulatedFiles();
      const log = await createLog(files, STORY);
      let left = failAt;
      files.beforeOperation = (name) => {
        if (name === operation && left-- === 0) files.failNext(name, "EIO");
      };
      const first = await outcome(log.wal.trim(coverage(log.erasures)));
      files.beforeOperation = null;
      const second = await log.wal.trim(coverage(log.erasures));
      expect(second.erasing.isComplete).toBe(true);
      if (first instanceof Error)
        expect(erasedIn(second)).toMatchObject(operation === "replace" ? wanted : {});
      await expectErased(files.crash(), log);
    }
  }
});

test("trim() loses nothing through a power loss at any operation, and the next start's trim finishes", async () => {
  for (const seed of [null, 1, 2, 3]) {
    for (let crashAt = 0, isCrashed = true; isCrashed; crashAt++) {
      const files = createSimulatedFiles();
      const log = await createLog(files, STORY);
      const random = seed === null ? undefined : seededRandom(seed + crashAt);
      let left = crashAt;
      let crashed: SimulatedFiles | null = null;
      files.beforeOperation = () => {
        if (left-- === 0) crashed = files.crash(random);
      };
      await outcome(log.wal.trim(coverage(log.erasures)));
      isCrashed = crashed !== null;
      const disk: SimulatedFiles = crashed ?? files.crash(random);
      const rest = leftOf(log.reports, log.erasures);
      const { wal, recovery } = await openTestWal(disk);
      expect(recovery).toMatchObject({ damage: [], tornTail: null });
      const { reports, profiles } = await readDisk(disk);
      expect(reports).toEqual(expect.arrayContaining(rest));
      expect(profiles).toEqual(expect.arrayContaining([5, 7]));
      expect((await wal.trim(coverage(log.erasures))).erasing.isComplete).toBe(true);
      await expectErased(disk, log);
      expect(await appendNamed(wal, ["after"])).toEqual(["9 after"]);
    }
  }
});

test("trim() that is broken off is not complete, and the next one goes on", async () => {
  const files = createSimulatedFiles();
  const log = await createLog(files, STORY);
  const stop = new AbortController();
  files.beforeOperation = (operation) => {
    if (operation === "replace") stop.abort(); // The first segment is written all the same.
  };
  const first = await log.wal.trim(coverage(log.erasures), stop.signal);
  files.beforeOperation = null;
  expect([first.erasing.isComplete, first.erasing.rewritten.length]).toEqual([false, 1]);
  const second = await log.wal.trim(coverage(log.erasures));
  expect([second.erasing.isComplete, second.erasing.rewritten.length]).toEqual([true, 2]);
  await expectErased(files.crash(), log);
});
