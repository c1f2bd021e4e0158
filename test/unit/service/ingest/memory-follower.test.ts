import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { nextTurn } from "../../../../src/lib/schedule/timers.ts";
import type { Correction } from "../../../../src/model/correction.ts";
import type { CorrectionEntry } from "../../../../src/model/correction-entry.ts";
import { hidingEntries, undoEntry } from "../../../../src/model/correction-pieces.ts";
import type { DeviceId, UserId } from "../../../../src/model/ids.ts";
import { MemoryFollower } from "../../../../src/service/ingest/memory-follower.ts";
import { NO_SEALS } from "../../../support/empty-archive.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";

const BASE_MS = 1_769_442_912_000;
const RECORDS = 5000;
const BUS = "bus" as DeviceId;

const times = Float64Array.from({ length: RECORDS }, (_, at) => BASE_MS + at * 1000);

function reportAt(timestamp: number) {
  return { device_id: BUS, timestamp, latitude: 1, longitude: 2 };
}

function hideAll(): CorrectionEntry[] {
  const correction: Correction = {
    ...{ id: "c", action: "hide", deviceId: BUS, selection: {}, note: null, createdMs: 0, createdBy: "key" },
    ...{ repetition: null, target: null, records: RECORDS, firstMs: times[0]!, lastMs: times.at(-1)! },
  };
  return hidingEntries(APP, 0, correction, times);
}

/** Each look at its clock takes 10 ms, so each step of long work is a slice of its own. */
function createSlowScheduler(): Scheduler {
  let nowMs = 0;
  return new Scheduler(() => {
    nowMs += 10;
    return nowMs;
  });
}

test("a long correction gives others their turns; entries after it wait for its end", async () => {
  const scheduler = createSlowScheduler();
  const hot = createHotStore(scheduler);
  const memory = new MemoryFollower({ hot, messages: null }, scheduler, NO_SEALS);
  let sequence = 0;
  await memory.take(
    { kind: "reports", appId: APP, batch: batchOf([...times].map(reportAt)), sequence: ++sequence },
    false,
  );
  hot.keepChanges(sequence);
  const entries = [...hideAll(), undoEntry(APP, 1, "c")];
  const order: number[] = [];
  const later = BASE_MS + RECORDS * 1000;
  const taken = [...entries, { kind: "reports", appId: APP, batch: batchOf([reportAt(later)]) } as const].map(
    async (entry) => {
      const own = ++sequence;
      await memory.take({ ...entry, sequence: own }, false);
      order.push(own);
    },
  );
  const seen = new Set<number>();
  let turns = 0;
  while (order.length < taken.length) {
    await nextTurn();
    turns++;
    const app = hot.findApp(APP)!;
    const device = app.find(BUS)!;
    seen.add(device.recordCount);
    const newestMs =
      app.archivedRows.findNewest(device.number) === null ? Number.NEGATIVE_INFINITY : device.newestMs;
    expect(app.newestTimes.of(device.number)).toBe(newestMs); // What shows is what there is, between steps too.
  }
  await Promise.all(taken);
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(turns).toBeGreaterThanOrEqual(10);
  expect(seen).toContain(RECORDS - 1000);
  expect(seen).toContain(0);
  expect(hot.findApp(APP)!.find(BUS)!.recordCount).toBe(RECORDS + 1);
  expect(hot.visibleSequence).toBe(sequence);
});

test("the erasure of a user is applied once late rows are folded, and what comes after it waits, too", async () => {
  const scheduler = new Scheduler();
  const hot = createHotStore(scheduler);
  let [folds, endFold] = [0, () => {}];
  const foldLate = () => {
    folds++;
    return new Promise<void>((resolve) => {
      endFold = resolve;
    });
  };
  const memory = new MemoryFollower({ hot, messages: null }, scheduler, { ...NO_SEALS, foldLate });
  const reports = (sequence: number, userId: string) => {
    const batch = batchOf([{ ...reportAt(BASE_MS + sequence), user_id: userId }]);
    return { kind: "reports", appId: APP, batch, sequence } as const;
  };
  const erasure = (sequence: number, userId: UserId | null) => {
    const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
    const made = { id: `e${sequence}`, block: false, createdMs: 0, createdBy: "key", continues: false };
    const scope = { appId: APP, deviceIds: [userId === null ? BUS : ("tram" as DeviceId)], userId, range };
    return {
      kind: "erasure",
      previous: 0,
      appId: APP,
      erasure: { ...made, ...scope },
      newest: [],
      corrections: [],
      sequence,
    } as const;
  };
  const count = () => hot.findApp(APP)?.find(BUS)?.recordCount ?? 0;
  await memory.take(reports(1, "u"), false);
  const taken = [erasure(2, "u" as UserId), reports(3, "u")].map((entry) => memory.take(entry, false));
  await nextTurn();
  expect([folds, count(), hot.appliedSequence]).toEqual([1, 1, 1]);
  endFold();
  await Promise.all(taken);
  expect([folds, count(), hot.appliedSequence]).toEqual([1, 1, 3]);
  await memory.take(erasure(4, null), false);
  expect([folds, count()]).toEqual([1, 0]);
});
