import { expect, test } from "bun:test";
import type { DeviceId } from "../../../src/model/ids.ts";
import { type UtcDay, utcDayOf } from "../../../src/model/time/utc-day.ts";
import { FileError } from "../../../src/runtime/files.ts";
import type { TrimmedLog } from "../../../src/wal/closed-segments.ts";
import type { Coverage } from "../../../src/wal/coverage.ts";
import { inspectLog } from "../../../src/wal/read-log.ts";
import { SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import * as fc from "../../support/fast-check.ts";
import { outcome } from "../../support/rejection.ts";
import { batchIn } from "../../support/reports/batches.ts";
import { APP, appendNamed, COVERS_ALL, covers, dayBatch, LOG, openTestWal, segmentPaths } from "./fixture.ts";

type TestWal = Awaited<ReturnType<typeof openTestWal>>["wal"];

/** Appends segments, each of one entry for each list of days, named `a`, `b`, ...; the last stays open. */
async function appendSegments(wal: TestWal, segments: readonly (readonly (readonly number[])[])[]) {
  const written: string[] = [];
  for (const entries of segments) {
    await wal.rotate();
    for (const days of entries) {
      const name = String.fromCharCode("a".charCodeAt(0) + written.length);
      const appended = await wal.append(APP, dayBatch(name, days));
      if (!appended.ok) throw new Error(`refused ${name}: ${appended.error.kind}`);
      written.push(`${appended.value} ${name}`);
    }
  }
  return written;
}

/** What a trim answers that had nothing to erase. One that looked at nothing does not say that nothing is left. */
function trimmed(segments: number, bytes: number, isComplete = true): TrimmedLog {
  return { segments, bytes, erasing: { isComplete, rewritten: [], unsearched: [], held: null } };
}

/** A log of such segments, written in one run. */
async function createLog(segments: readonly (readonly (readonly number[])[])[]) {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { segmentBytesMax: 1_000_000 });
  const written = await appendSegments(wal, segments);
  return { files, wal, written };
}

function bytesOnDisk(files: SimulatedFiles): number {
  const segments = [...files.contents()].filter(([path]) => path.startsWith(`${LOG}/`));
  return segments.reduce((sum, [, { length }]) => sum + length, 0);
}

/**
 * After a power loss the disk, which it returns, holds these entries and no trace of others; the log had counted its
 * bytes.
 */
async function expectLeft(files: SimulatedFiles, wal: TestWal, left: readonly string[]) {
  expect(wal.bytes).toBe(bytesOnDisk(files));
  const disk = files.crash();
  const again = await openTestWal(disk);
  expect(again.found).toEqual([...left]);
  expect(again.recovery).toMatchObject({ damage: [], tornTail: null });
  expect(again.wal.bytes).toBe(wal.bytes);
  return disk;
}

/** Every report of a log, as `sequence name day`. */
async function reportsIn(files: SimulatedFiles): Promise<string[]> {
  const reports: string[] = [];
  await inspectLog(files, LOG, (entry) => {
    const { texts, device, timestampMs } = batchIn(entry);
    const found = Array.from(timestampMs, (atMs, row) => `${texts[device[row]!]} ${utcDayOf(atMs)}`);
    reports.push(...found.map((report) => `${entry.sequence} ${report}`));
  });
  return reports;
}

test("trim() removes the segments all of whose days are covered, and tells how much", async () => {
  const { files, wal, written } = await createLog([[[1], [1]], [[1, 2, 2]], [[2, 2], [1]], [[3]], [[1]]]);
  const before = wal.bytes;
  const [first] = await segmentPaths(files);
  const firstBytes = files.contents().get(first!)!.length;
  expect(await wal.trim(covers(1))).toEqual(trimmed(1, firstBytes));
  expect(wal.bytes).toBe(before - firstBytes);
  expect(await wal.trim(covers(1))).toEqual(trimmed(0, 0));
  expect((await wal.trim(covers(1, 2))).segments).toBe(2);
  await expectLeft(files, wal, written.slice(5));
});

test("trim() asks for each day at the segment's last sequence", async () => {
  const { wal } = await createLog([[[1], [1, 2]], [[5], [3], [5]], [[4]]]);
  const asked: string[] = [];
  const isCovered: Coverage["isCovered"] = (day, lastSequence) => asked.push(`${day} at ${lastSequence}`) > 0;
  await wal.trim({ isCovered, isExpired: () => false, standingSequence: 0, erasures: [] });
  expect(asked).toEqual(["1 at 2", "2 at 2", "5 at 5", "3 at 5"]);
});

test("trim() keeps a segment for one late report, and of it that report alone", async () => {
  const { files, wal, written } = await createLog([[[8]], [[8], [8, 8, 1, 8], [8]], [[8]], [[9]]]);
  const before = wal.bytes;
  // Day 1 was sealed before its late report arrived with sequence 3.
  const isCovered: Coverage["isCovered"] = (day, lastSequence) => lastSequence <= (day === 1 ? 2 : 100);
  const late = await wal.trim({ isCovered, isExpired: () => false, standingSequence: 0, erasures: [] });
  expect(late).toEqual(trimmed(2, before - wal.bytes));
  const disk = await expectLeft(files, wal, [written[2]!, "4 -", ...written.slice(5)]);
  expect(await reportsIn(disk)).toEqual(["3 c 1", "6 f 9"]);
});

test("trim() writes a segment anew where half of its reports are covered", async () => {
  for (const [uncovered, isWorth] of [
    [2, true],
    [3, false],
  ] as const) {
    const { files, wal } = await createLog([[[1, 1], Array(uncovered).fill(2)], [[9]]]);
    const before = wal.bytes;
    const { segments, bytes } = await wal.trim(covers(1));
    expect([segments, bytes > 0, before - wal.bytes]).toEqual([0, isWorth, bytes]);
    expect((await reportsIn(files)).includes("1 a 1")).toBe(!isWorth);
    expect(await wal.trim(covers(1))).toEqual(trimmed(0, 0));
  }
});

test("trim() leaves nothing that is expired, however much else a segment holds, the newest too", async () => {
  const texts = (files: SimulatedFiles) =>
    [...files.contents()].map(([, bytes]) => Buffer.from(bytes).toString("latin1")).join();
  for (const isNewest of [false, true]) {
    const { files, wal } = await createLog([[[5, 5, 5, 5, 5, 5], [1], [5, 1, 6]]]);
    if (isNewest) await wal.rotate();
    else await appendSegments(wal, [[[5]]]);
    await wal.trim(covers(1, 5));
    expect(wal.mayHold(1 as UtcDay)).toBe(isNewest);
    await wal.trim({ ...covers(1), isExpired: (day) => day === 1 });
    expect(wal.mayHold(1 as UtcDay)).toBe(false);
    expect(wal.mayHold(6 as UtcDay)).toBe(true);
    expect((await reportsIn(files)).filter((report) => report.endsWith(" 1"))).toEqual([]);
    expect(texts(files)).not.toContain("user of b"); // Nor do the texts of what went stay behind.
    expect(texts(files)).toContain("user of c");
  }
});

test("trim() leaves an expired report that is not covered", async () => {
  const { files, wal, written } = await createLog([[[1], [2]], [[3]]]);
  await wal.trim({ isCovered: (day) => day === 2, isExpired: () => true, standingSequence: 0, erasures: [] });
  await expectLeft(files, wal, [written[0]!, "2 -", written[2]!]);
});

test("trim() leaves a segment as it is that changed behind its back", async () => {
  const { files, wal } = await createLog([[[1], [2]], [[3]]]);
  const [path] = await segmentPaths(files);
  const damaged = files.contents().get(path!)!;
  damaged[SEGMENT_HEAD_BYTES + 40]! ^= 1;
  await files.replace(path!, damaged);
  expect(await wal.trim({ ...covers(1), isExpired: () => true })).toEqual(trimmed(0, 0));
  expect(files.contents().get(path!)).toEqual(damaged);
});

test("trim() keeps the segment being written and, where there is none, the newest", async () => {
  const { files, wal, written } = await createLog([[[1]], [[1]]]);
  expect((await wal.trim(COVERS_ALL)).segments).toBe(1);
  await wal.rotate();
  expect((await wal.trim(COVERS_ALL)).segments).toBe(0);
  const disk = await expectLeft(files, wal, written.slice(1));
  const { wal: again } = await openTestWal(disk);
  expect((await again.trim(COVERS_ALL)).segments).toBe(0);
  written.push(...(await appendNamed(again, ["c"])));
  expect((await again.trim(COVERS_ALL)).segments).toBe(1);
  await expectLeft(disk, again, ["3 c"]);
});

test("trim() of an empty log, and of one that is closed, removes nothing", async () => {
  const { wal } = await openTestWal(createSimulatedFiles());
  expect(await wal.trim(COVERS_ALL)).toEqual(trimmed(0, 0));
  const closing = await createLog([[[1]], [[1]]]);
  await closing.wal.close();
  expect(await closing.wal.trim(COVERS_ALL)).toEqual(trimmed(0, 0, false));
  expect((await segmentPaths(closing.files)).length).toBe(2);
});

test("trim() knows the days that a start has replayed, and sequences go on above what left", async () => {
  const { files, wal, written } = await createLog([[[1]], [[1, 2]], [[3], [3]]]);
  await wal.close();
  const { wal: again } = await openTestWal(files);
  expect(again.currentDays).toEqual(new Set());
  expect((await again.trim(covers(2, 3))).segments).toBe(0);
  expect((await again.trim(covers(1, 2, 3))).segments).toBe(2);
  const disk = await expectLeft(files, again, written.slice(2));
  for (let start = 0; start < 2; start++) {
    const { wal: idle } = await openTestWal(disk); // Trimmed again, and nothing appended.
    expect(await idle.trim(COVERS_ALL)).toEqual(trimmed(0, 0));
    expect(idle.lastSequence).toBe(4);
    await idle.close();
  }
  const last = await openTestWal(disk);
  expect(last.found).toEqual(written.slice(2));
  expect(await appendNamed(last.wal, ["z"])).toEqual(["5 z"]);
});

test("trim() removes what has no good frame, once it is not the newest", async () => {
  const { files, wal } = await createLog([[[1]], [[2]]]);
  await wal.close();
  const contents = files.contents();
  const [, newest] = await segmentPaths(files);
  contents.set(newest!, contents.get(newest!)!.slice(0, SEGMENT_HEAD_BYTES));
  const cut = createSimulatedFiles(contents);
  const { wal: again } = await openTestWal(cut, { sequenceMin: 10 });
  expect(await again.trim(covers())).toEqual(trimmed(0, 0));
  expect(await appendNamed(again, ["c"])).toEqual(["10 c"]);
  expect(await again.trim(covers())).toEqual(trimmed(1, SEGMENT_HEAD_BYTES));
  await expectLeft(cut, again, ["1 a", "10 c"]);
});

test("trim() counts the days of good frames alone", async () => {
  const { files, wal, written } = await createLog([[[1], [2], [1]], [[3]]]);
  await wal.close();
  const contents = files.contents();
  const [older] = await segmentPaths(files);
  const bytes = contents.get(older!)!;
  bytes[Math.floor((SEGMENT_HEAD_BYTES + bytes.length) / 2)]! ^= 1;
  const damaged = createSimulatedFiles(contents);
  const { wal: again, recovery, found } = await openTestWal(damaged);
  expect(found).toEqual([written[0]!, ...written.slice(2)]);
  expect((await again.trim(covers(1))).segments).toBe(1);
  await expectLeft(damaged, again, written.slice(3));
  expect(damaged.contents().has(recovery.damage[0]!.savedAs!)).toBe(true);
});

test("trim() leaves a segment alone that could not be read or repaired at the start", async () => {
  for (const operation of ["read", "replace"] as const) {
    const { files, wal } = await createLog([[[1]], [[1], [1]], [[1]]]);
    await wal.close();
    const contents = files.contents();
    const [, middle, newest] = await segmentPaths(files);
    contents.get(middle!)![SEGMENT_HEAD_BYTES + 50]! ^= 1;
    const found = createSimulatedFiles(contents);
    found.beforeOperation = (name, path) => {
      const isMeant = name === "read" ? path === middle : path !== newest; // Which every start puts in place anew.
      if (name === operation && isMeant) throw new FileError(name, path, "EIO");
    };
    const { wal: again, recovery } = await openTestWal(found);
    expect(recovery.damage).toMatchObject([{ file: middle!, savedAs: null }]);
    found.beforeOperation = null;
    expect((await again.trim(COVERS_ALL)).segments).toBe(1);
    expect(found.contents().get(middle!)).toEqual(contents.get(middle!)!);
    expect(again.bytes).toBe(bytesOnDisk(found));
  }
});

test("trim() tries all segments where one can't be removed, and that one again the next time", async () => {
  const { files, wal, written } = await createLog([[[1]], [[1]], [[1]], [[2]]]);
  const [, second] = await segmentPaths(files);
  files.beforeOperation = (operation, path) => {
    if (operation === "remove" && path === second) throw new FileError(operation, path, "EACCES");
  };
  expect(await outcome(wal.trim(covers(1)))).toThrow(new FileError("remove", second!, "EACCES"));
  expect(await outcome(wal.trim(covers(1)))).toThrow(FileError); // Waits for the one before.
  await wal.trim(covers()); // Has waited for both.
  expect((await segmentPaths(files)).length).toBe(2);
  expect(await appendNamed(wal, ["e"])).toEqual(["5 e"]);
  files.beforeOperation = null;
  expect((await wal.trim(covers(1))).segments).toBe(1);
  await expectLeft(files, wal, [...written.slice(3), "5 e"]);
});

/** The directory's syncs fail from this operation on, until the result is called. */
function failSyncsFrom(files: SimulatedFiles, first: "replace" | "remove"): () => void {
  let isReached = false;
  files.beforeOperation = (operation) => {
    isReached ||= operation === first;
    if (isReached && operation === "syncDirectory") files.failNext(operation, "EIO");
  };
  return () => {
    files.beforeOperation = null;
  };
}

test("trim() leaves nothing in a segment whose removal does not last, also beyond a restart", async () => {
  const { files, wal } = await createLog([[[1]], [[2]]]);
  const endFaults = failSyncsFrom(files, "remove");
  expect(await outcome(wal.trim(covers(1)))).toThrow(FileError);
  endFaults();
  const { wal: again } = await openTestWal(files);
  expect(again.mayHold(1 as UtcDay)).toBe(false);
  expect((await again.trim(covers(1))).segments).toBe(0);
  const disk = files.crash();
  expect((await segmentPaths(disk)).length).toBe(2);
  expect(await reportsIn(disk)).toEqual(["2 b 2"]);
});

test("mayHold() trusts no segment that an earlier process may have emptied, until trim() has removed it", async () => {
  const { files, wal } = await createLog([[[1]], [[2]]]);
  const endFaults = failSyncsFrom(files, "replace");
  expect(await outcome(wal.trim(covers(1)))).toThrow(FileError);
  expect(wal.mayHold(1 as UtcDay)).toBe(true);
  endFaults();
  const { wal: again } = await openTestWal(files);
  expect(again.mayHold(1 as UtcDay)).toBe(true);
  expect((await again.trim(covers(1))).segments).toBe(1);
  expect(again.mayHold(1 as UtcDay)).toBe(false);
  expect(await reportsIn(files.crash())).toEqual(["2 b 2"]);
});

test("trim() on a full disk removes a segment as it is, which stays suspect if its sync fails", async () => {
  const { files, wal } = await createLog([[[1]], [[2]]]);
  files.capacityBytes = bytesOnDisk(files);
  const endFaults = failSyncsFrom(files, "remove");
  expect(await outcome(wal.trim(covers(1)))).toThrow(FileError);
  endFaults();
  expect(await wal.trim(covers(1))).toEqual(trimmed(0, 0));
  expect(wal.mayHold(1 as UtcDay)).toBe(true);
});

test("trim() removes each segment once, however often it is called meanwhile", async () => {
  const { files, wal, written } = await createLog([[[1]], [[1]], [[2]]]);
  const trimmed = await Promise.all([wal.trim(covers(1)), wal.trim(covers(1))]);
  expect(trimmed.map(({ segments }) => segments)).toEqual([2, 0]);
  await expectLeft(files, wal, written.slice(2));
});

test("close() waits for a trim", async () => {
  const { files, wal } = await createLog([[[1]], [[2]]]);
  const held = Promise.withResolvers<void>();
  files.beforeOperation = (operation) => (operation === "remove" ? held.promise : undefined);
  const order: string[] = [];
  const trimmed = wal.trim(covers(1)).then(() => order.push("trimmed"));
  await Promise.resolve(); // It has begun.
  const closed = wal.close().then(() => order.push("closed"));
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
  held.resolve();
  await Promise.all([trimmed, closed]);
  expect(order).toEqual(["trimmed", "closed"]);
});

test("trim() leaves a segment alone that was not there to be replayed", async () => {
  const { files, wal } = await createLog([[[1], [1]], [[1]], [[1]]]);
  await wal.close();
  const late = `${LOG}/00000000000000000002.wal`;
  const { wal: again } = await openTestWal(files, { onEntry: () => void files.openAppend(late) });
  expect((await again.trim(COVERS_ALL)).segments).toBe(2);
  expect(files.contents().has(late)).toBe(true);
});

test("trim() takes a segment that is gone already for removed", async () => {
  const { files, wal, written } = await createLog([[[1]], [[1]], [[2]]]);
  await files.remove((await segmentPaths(files))[0]!);
  expect((await wal.trim(covers(1))).segments).toBe(2);
  await expectLeft(files, wal, written.slice(2));
});

test("trim() removes nothing where the log has failed", async () => {
  const { files, wal } = await createLog([[[1]], [[2]]]);
  files.failNext("sync", "EIO");
  await wal.append(APP, dayBatch("c", [1]));
  expect(wal.state).toBe("failed");
  expect(await wal.trim(COVERS_ALL)).toEqual(trimmed(0, 0, false));
  expect((await segmentPaths(files)).length).toBe(2);
});

test("trim() makes room for a log that is full", async () => {
  const { files, wal } = await createLog([[[1]], [[2]]]);
  files.capacityBytes = bytesOnDisk(files);
  const refused = await wal.append(APP, dayBatch("c", [2]));
  expect(refused.ok ? null : refused.error.kind).toBe("log_full");
  expect((await wal.trim(covers(1))).segments).toBe(1);
  expect(await appendNamed(wal, ["d"])).toEqual(["3 d"]);
  await expectLeft(files, wal, ["2 b", "3 d"]);
});

test("trim() leaves every report that is not covered, and none that is covered and expired", async () => {
  const logs = fc.array(
    fc.array(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }), {
      minLength: 1,
      maxLength: 3,
    }),
    { minLength: 1, maxLength: 6 },
  );
  const coverages = fc.array(fc.nat(20), { minLength: 5, maxLength: 5 }); // By day, the sequence covered.
  const expiries = fc.uniqueArray(fc.integer({ min: 1, max: 4 }));
  await fc.assert(
    fc.asyncProperty(
      logs,
      coverages,
      expiries,
      fc.boolean(),
      async (segments, covered, expired, isReopened) => {
        const { files, wal: first, written } = await createLog(segments);
        if (isReopened) await first.close();
        const wal = isReopened ? (await openTestWal(files)).wal : first;
        await wal.trim({
          isCovered: (day, lastSequence) => lastSequence <= covered[day]!,
          isExpired: (day) => expired.includes(day),
          standingSequence: 0,
          erasures: [],
        });

        const names = written.values();
        const placed = segments.map((entries) =>
          entries.map((days) => ({ days, entry: names.next().value! })),
        );
        const left = await reportsIn(files.crash());
        expect(wal.bytes).toBe(bytesOnDisk(files));
        placed.forEach((entries, index) => {
          const last = Number.parseInt(entries.at(-1)!.entry, 10);
          const isOpen = index === placed.length - 1 && !isReopened;
          for (const { days, entry } of entries) {
            for (const day of days) {
              const isGone = !left.includes(`${entry} ${day}`);
              if (last > covered[day]! || isOpen) expect([entry, day, isGone]).toEqual([entry, day, false]);
              else if (expired.includes(day)) expect([entry, day, isGone]).toEqual([entry, day, true]);
            }
          }
        });
        const { recovery } = await openTestWal(files.crash());
        expect(recovery).toMatchObject({ damage: [], tornTail: null });
      },
    ),
  );
});

test("currentDays are those of the segment being written, as far as they are on disk", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { segmentBytesMax: 1_000_000 });
  expect(wal.currentDays).toEqual(new Set());
  await wal.append(APP, dayBatch("a", [3]));
  expect(wal.currentDays).toEqual(new Set([3 as UtcDay]));
  const appended = wal.append(APP, dayBatch("b", [4, 3]));
  expect(wal.currentDays).toEqual(new Set([3 as UtcDay]));
  await appended;
  expect(wal.currentDays).toEqual(new Set([3 as UtcDay, 4 as UtcDay]));
  await wal.rotate();
  expect(wal.currentDays).toEqual(new Set());
  await wal.append(APP, dayBatch("c", [5]));
  expect(wal.currentDays).toEqual(new Set([5 as UtcDay]));
});

test("trim() can be broken off before any operation of the disk, by a signal or a close, and the next one finishes", async () => {
  const segments = [[[1, 1], [2]], [[1], [1]], [[1, 1, 1], [2], [3]], [[1], [4]], [[9]]];
  const whole = await createLog(segments);
  await whole.wal.trim(covers(1));
  const wanted = await reportsIn(whole.files);
  for (const how of ["signal", "close"] as const) {
    let operations = 0;
    for (let stopAt = 0, isStopped = true; isStopped; stopAt++) {
      const { files, wal } = await createLog(segments);
      const before = await reportsIn(files);
      const stop = new AbortController();
      let left = stopAt;
      let closing: Promise<void> | null = null;
      files.beforeOperation = () => {
        if (left-- !== 0) return;
        if (how === "signal") stop.abort();
        else closing = wal.close();
      };
      await wal.trim(covers(1), stop.signal);
      files.beforeOperation = null;
      await closing;
      isStopped = left < 0;
      const disk = files.crash();
      const rest = await reportsIn(disk);
      expect(before).toEqual(expect.arrayContaining(rest));
      expect(rest).toEqual(expect.arrayContaining(wanted));
      const again = await openTestWal(disk);
      expect(again.recovery).toMatchObject({ damage: [], tornTail: null });
      await again.wal.trim(covers(1));
      expect((await reportsIn(disk)).sort()).toEqual([...wanted].sort());
      operations++;
    }
    expect(operations).toBeGreaterThan(5);
  }
});

test("trim() looks at the signal between two entries of a segment", async () => {
  const { files, wal } = await createLog([[[1], [1], [2]], [[9]]]);
  const before = await reportsIn(files);
  const stop = new AbortController();
  files.beforeOperation = (operation) => {
    if (operation === "read") stop.abort(); // The segment is in memory, and not looked at yet.
  };
  expect(await wal.trim(covers(1), stop.signal)).toEqual(trimmed(0, 0));
  files.beforeOperation = null;
  expect(await reportsIn(files)).toEqual(before);
});

const PROFILE = {
  kind: "device_profile",
  appId: APP,
  deviceId: "bus" as DeviceId,
  profile: { name: "Bus", color: null, icon: null, tags: [], metadata: null },
} as const;

/** Covers all days, and standing entries up to this one. */
const standingUpTo = (standingSequence: number): Coverage => ({ ...COVERS_ALL, standingSequence });

test("trim() keeps a segment until the archive has its standing entries", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  for (const append of [
    () => wal.append(APP, dayBatch("a", [1])),
    () => wal.appendStanding(PROFILE),
    () => wal.append(APP, dayBatch("b", [1])),
    () => wal.rotate(),
    () => wal.append(APP, dayBatch("c", [1])),
  ])
    await append();
  expect((await wal.trim(standingUpTo(1))).segments).toBe(0);
  await wal.close();
  // Of the days nothing is left; the last entry says how far the sequences went.
  const { wal: again, found } = await openTestWal(files);
  expect(found).toEqual(["2 profile of bus", "3 -", "4 c"]);
  await again.append(APP, dayBatch("d", [1]));
  expect((await again.trim(standingUpTo(2))).segments).toBe(2);
  await again.close();
  expect((await openTestWal(files)).found).toEqual(["5 d"]);
});

test("trim() writes a segment anew without standing entries that the archive has", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await wal.appendStanding(PROFILE);
  await wal.append(APP, dayBatch("a", [1]));
  await wal.append(APP, dayBatch("b", [2]));
  await wal.appendStanding({ ...PROFILE, profile: null });
  await wal.rotate();
  await wal.append(APP, dayBatch("c", [3]));
  const isCovered: Coverage["isCovered"] = (day) => day === 1;
  await wal.trim({ isCovered, isExpired: () => false, standingSequence: 3, erasures: [] });
  await wal.close();
  expect((await openTestWal(files)).found).toEqual(["3 b", "4 profile of bus", "5 c"]);
});

test("trim() writes a segment anew once half of it is messages of the quarantine that the archive has", async () => {
  for (const runs of [1, 2]) {
    const files = createSimulatedFiles();
    let { wal } = await openTestWal(files, { segmentBytesMax: 100_000 });
    const piece = (bytes: number) =>
      ({
        kind: "refused_piece",
        ...{ appId: APP, id: "f".repeat(32), source: "", number: 1, start: 0 },
        ...{ totalBytes: bytes, bytes: new Uint8Array(bytes) },
      }) as const;
    await wal.append(APP, dayBatch("a", [1]));
    await wal.appendStanding(piece(20_000));
    await wal.append(APP, dayBatch("b", [1]));
    await wal.appendStanding(piece(100));
    if (runs === 2) {
      await wal.close(); // What was counted while they were written is counted by a start too.
      ({ wal } = await openTestWal(files, { segmentBytesMax: 100_000 }));
    } else await wal.rotate();
    await wal.append(APP, dayBatch("c", [1]));
    const coverage = { isCovered: () => false, isExpired: () => false, erasures: [] };
    expect((await wal.trim({ ...coverage, standingSequence: 3 })).bytes).toBe(0);
    expect((await wal.trim({ ...coverage, standingSequence: 4 })).bytes).toBeGreaterThan(20_000);
    await wal.close();
    expect((await openTestWal(files)).found).toEqual(["1 a", "3 b", "4 -", "5 c"]);
  }
});
