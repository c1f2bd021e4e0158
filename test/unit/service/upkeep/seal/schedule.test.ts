import { expect, test } from "bun:test";
import type { DayInMemory } from "../../../../../src/hot/hot-store.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import { parseUtcDayName } from "../../../../../src/model/time/utc-day.ts";
import {
  createSealSchedule,
  type SealScheduleOptions,
} from "../../../../../src/service/upkeep/seal/schedule.ts";
import type { SealReport } from "../../../../../src/service/upkeep/seal/seal.ts";
import { outcome } from "../../../../support/rejection.ts";
import { batchOf } from "../../../../support/reports/batches.ts";
import { VirtualTime } from "../../../../support/stream/virtual-time.ts";
import { turns } from "../../../../support/turns.ts";

const NOW_MS = Date.UTC(2026, 0, 28);
const PLACE = { device_id: "a", latitude: 1, longitude: 2 };
/** Beside a new report, one of a day that left the window. */
const OLD = batchOf([
  { ...PLACE, timestamp: NOW_MS },
  { ...PLACE, timestamp: Date.UTC(2026, 0, 20, 23, 59) },
]);

const REPORT: SealReport = {
  days: [],
  records: 0,
  parts: 0,
  bytes: 0,
  blocked: [],
  expired: [],
  deleted: [],
  logBytes: 0,
  erased: null,
  unfinished: null,
  durationMs: 0,
};

const PROGRESS = { records: 1, recordsTotal: 2 };

/** A schedule over seals that end when the test says so. */
function createFixture(options: Partial<SealScheduleOptions> = {}) {
  const day = { day: parseUtcDayName("2025-06-01")!, records: 0, fixSize: 0, isSealed: false };
  const time = new VirtualTime();
  const ends: (() => void)[] = [];
  const told: unknown[] = [];
  let running = 0;
  let runningMax = 0;
  let forgets = 0;
  const schedule = createSealSchedule({
    async seal(signal, onProgress) {
      onProgress?.(PROGRESS);
      runningMax = Math.max(runningMax, ++running);
      await new Promise<void>((resolve, reject) => {
        ends.push(resolve);
        signal.addEventListener("abort", () => reject(signal.reason));
      }).finally(() => running--);
      day.records = 0;
      return REPORT;
    },
    hot: { daysInMemory: () => [day as DayInMemory], forgetIdle: () => forgets++ },
    clock: createManualClock(NOW_MS),
    timers: time,
    intervalMs: 20,
    oldRecordsSeal: 10,
    oldRecordsMax: 20,
    onSealed: (report) => told.push(report),
    onFailed: (error) => told.push(error),
    onLate: (state) => told.push(state),
    ...options,
  });
  const hold = (records: number) => {
    day.records = records;
    for (let batch = 0; batch < 16; batch++) schedule.noteReports();
  };
  return { time, schedule, ends, told, hold, runningMax: () => runningMax, forgets: () => forgets };
}

test("start() seals at once and again after each interval", async () => {
  const { time, schedule, ends, told } = createFixture();
  schedule.start();
  await time.until(time.wait(1));
  expect(ends).toHaveLength(1);
  ends[0]!();
  await time.until(time.wait(19));
  expect(ends).toHaveLength(1);
  await time.until(time.wait(1));
  expect(ends).toHaveLength(2);
  expect(told).toEqual([REPORT]);
  await schedule.stop();
});

test("noteReports() begins a seal once many old records are in memory, one at a time", async () => {
  const { schedule, ends, hold, runningMax } = createFixture();
  hold(10);
  await turns();
  expect(ends).toHaveLength(0);
  hold(11);
  hold(12);
  await turns();
  expect(ends).toHaveLength(1);
  expect(schedule.hasRoomFor(OLD)).toBe(true);
  hold(21);
  expect([schedule.hasRoomFor(OLD), schedule.hasRoomToFollow(OLD)]).toEqual([false, true]);
  hold(81);
  expect(schedule.hasRoomToFollow(OLD)).toBe(false);
  expect(schedule.hasRoomFor(batchOf([{ ...PLACE, timestamp: NOW_MS }]))).toBe(true);
  ends[0]!();
  await turns();
  expect(schedule.hasRoomFor(OLD)).toBe(true);
  expect(runningMax()).toBe(1);
  await schedule.stop();
});

test("makeRoomFor() waits for the seal under way, and begins none where that made room", async () => {
  const { schedule, ends, hold } = createFixture();
  hold(11); // Begins a seal.
  await turns();
  hold(21);
  let rooms = 0;
  const waits = Array.from({ length: 3 }, () => schedule.makeRoomFor(OLD, () => {}).then(() => rooms++));
  await schedule.makeRoomFor(batchOf([{ ...PLACE, timestamp: NOW_MS }]), () => {});
  await turns();
  expect([ends.length, rooms]).toEqual([1, 0]);
  ends[0]!();
  await Promise.all(waits);
  expect([ends.length, rooms]).toEqual([1, 3]);
  await schedule.stop();
});

test("makeRoomFor() waits for one seal with all who wait, and tells them how far it is", async () => {
  const { schedule, ends, hold, runningMax } = createFixture();
  hold(11);
  await turns();
  hold(21);
  const told: unknown[] = [];
  ends[0]!();
  await turns();
  hold(21); // Reports may begin one of their own, which all wait for.
  const waits = [0, 1].map((waiter) =>
    schedule.makeRoomFor(OLD, (progress) => told.push([waiter, progress])),
  );
  await turns();
  expect([ends.length, runningMax()]).toEqual([2, 1]);
  ends[1]!();
  await Promise.all(waits);
  await turns();
  expect(ends).toHaveLength(2);
  expect(told).toEqual([
    [0, PROGRESS],
    [1, PROGRESS],
  ]);
  await schedule.stop();
});

test("makeRoomFor() rejects where the seal fails that should make room", async () => {
  const failure = new Error("the disk is full");
  const { schedule, told, hold } = createFixture({ seal: () => Promise.reject(failure) });
  hold(21);
  expect(await outcome(schedule.makeRoomFor(OLD, () => {}))).toThrow("the disk is full");
  await turns();
  expect(told).toEqual([failure]); // The one that reports began.
  await schedule.stop();
});

test("after each seal, also one that failed, memory gives up what nobody asks for any more", async () => {
  const { schedule, ends, forgets } = createFixture();
  const sealed = schedule.sealNow();
  await turns();
  expect(forgets()).toBe(0);
  ends[0]!();
  await sealed;
  expect(forgets()).toBe(1);
  const failing = schedule.sealNow();
  await turns();
  await schedule.stop();
  await failing.catch(() => {});
  expect(forgets()).toBe(2);
});

test("sealNow() waits for the seal under way, and stop() breaks both off", async () => {
  const { schedule, ends, runningMax } = createFixture();
  const first = schedule.sealNow();
  const second = schedule.sealNow();
  await turns();
  ends[0]!();
  expect(await first).toBe(REPORT);
  await turns();
  expect([ends.length, runningMax()]).toEqual([2, 1]);
  const stopped = schedule.stop();
  expect(await outcome(second)).toThrow("abort");
  await stopped;
});

test("a seal that fails is told of, and reports begin no other for a while", async () => {
  const failure = new Error("the disk is full");
  const { schedule, told, hold } = createFixture({ seal: () => Promise.reject(failure) });
  hold(11);
  await turns();
  hold(12);
  await turns();
  expect(told).toEqual([failure]);
  await schedule.stop();
});

test("sealSoon() begins a seal, unless one is running or has just failed", async () => {
  const { schedule, ends, told } = createFixture();
  schedule.sealSoon();
  schedule.sealSoon();
  await turns();
  expect(ends.length).toBe(1);
  ends[0]!();
  await turns();
  expect(told).toEqual([REPORT]);
  schedule.sealSoon();
  await turns();
  expect(ends.length).toBe(2);
  await schedule.stop();

  let seals = 0;
  const failing = createFixture({ seal: () => Promise.reject(new Error(`failure ${++seals}`)) });
  failing.schedule.sealSoon();
  await turns();
  failing.schedule.sealSoon();
  await turns();
  expect(seals).toBe(1);
  await failing.schedule.stop();
});

test("a seal is late once three intervals have passed since the last one, or the start, which is said once", async () => {
  const time = new VirtualTime();
  const clock = createManualClock(NOW_MS);
  const failure = new Error("the process that makes parts was ended");
  const seals: (() => Promise<SealReport>)[] = [];
  const { schedule, told } = createFixture({
    timers: time,
    clock,
    intervalMs: 3_600_000,
    seal: () => seals.shift()?.() ?? Promise.reject(failure),
  });
  const pass = async (ms: number) => {
    clock.advance(ms);
    await time.until(time.wait(ms), 2 * ms);
  };
  expect(schedule.state).toEqual({ lastMs: null, isLate: false });
  await pass(86_400_000);
  expect(schedule.state.isLate).toBe(false); // It has not begun.
  schedule.start();
  await pass(3 * 3_600_000);
  expect([schedule.state, told.filter((each) => each !== failure)]).toEqual([
    { lastMs: null, isLate: false },
    [],
  ]);
  await pass(5 * 3_600_000);
  const late = { lastMs: null, isLate: true };
  expect([schedule.state, told.filter((each) => each !== failure)]).toEqual([late, [late]]);
  told.length = 0;
  seals.push(async () => REPORT);
  await pass(3_600_000);
  const sealed = { lastMs: clock.nowMs(), isLate: false };
  expect([schedule.state, told]).toEqual([sealed, [REPORT]]);
  await pass(5 * 3_600_000);
  expect(told.filter((each) => each !== failure)).toEqual([REPORT, { ...sealed, isLate: true }]);
  await schedule.stop();
  expect(time.planned).toBe(0);
});

test("a seal that goes on is late too, for as long as it takes", async () => {
  const time = new VirtualTime();
  const { schedule, ends } = createFixture({ timers: time });
  schedule.start();
  await time.until(time.wait(100));
  expect([ends.length, schedule.state.isLate]).toEqual([1, true]);
  ends[0]!();
  await turns();
  expect(schedule.state).toEqual({ lastMs: NOW_MS, isLate: false });
  await schedule.stop();
});

test("foldLate() waits for the seal under way, folds late rows, repeats a seal that fails, and ends never after a stop", async () => {
  const late = { day: parseUtcDayName("2025-06-01")!, records: 0, fixSize: 0, isSealed: true };
  const seals: ((failure: Error | null) => void)[] = [];
  const { time, schedule, told } = createFixture({
    hot: { daysInMemory: () => [late as DayInMemory], forgetIdle: () => {} },
    async seal() {
      const failure = await new Promise<Error | null>((resolve) => seals.push(resolve));
      if (failure !== null) throw failure;
      return REPORT;
    },
  });
  let folded = 0;
  const fold = () => schedule.foldLate().then(() => folded++);
  await fold();
  expect(seals).toHaveLength(0);
  const running = schedule.sealNow();
  const waiting = fold();
  await turns();
  expect(folded).toBe(1);
  seals.shift()!(null);
  await Promise.all([running, waiting]);
  late.records = 3;
  const folding = fold();
  await turns();
  seals.shift()!(new Error("the disk is full"));
  await time.pass(60_000);
  expect([folded, told]).toEqual([2, [expect.objectContaining({ message: "the disk is full" })]]);
  seals.shift()!(null);
  await folding; // Of a day that can't be read the rows stay.
  expect([folded, late.records]).toEqual([3, 3]);
  void fold();
  await turns();
  const stopping = schedule.stop();
  seals.shift()!(null);
  await stopping;
  await turns();
  expect([folded, seals.length]).toEqual([3, 0]);
});
