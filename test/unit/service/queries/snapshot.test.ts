import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { Steps } from "../../../../src/lib/schedule/steps.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { REPORT_FIELDS } from "../../../../src/model/location-fields.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { FixedRetention } from "../../../../src/model/time/retention.ts";
import { createTakeSnapshot, type Snapshot } from "../../../../src/service/queries/snapshot.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";

/** Where all devices are, taken in steps between which they move, come and go. */

const NOON_MS = Date.UTC(2026, 2, 20, 12);
const FIELDS = ["speed", "user_id", "is_mock"].map(
  (name) => REPORT_FIELDS.find((field) => field.name === name)!,
);
const HOLDER = { appId: APP, keyId: "key", view: null };
const PATIENT = { signal: new AbortController().signal };

/** Does work step by step, and something else between each two. */
class InterruptingScheduler extends Scheduler {
  between: () => void = () => {};

  override runAtOnce<Value>(_owner: string, _signal: AbortSignal | null, steps: Steps<Value>): Value {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      this.between();
    }
  }
}

function createStore(scheduler = new Scheduler(), limits?: { devicesMax: number; bytesMax: number }) {
  const hot = createHotStore(scheduler);
  const clock = createManualClock(NOON_MS);
  const retention = FixedRetention.ofDays(7);
  return { hot, take: createTakeSnapshot({ hot, clock, retention, scheduler }, limits) };
}

/** Its rows, by device. */
function rowsOf({ blocks }: Snapshot): (readonly [id: string, values: readonly unknown[]])[] {
  return blocks.flatMap(({ deviceIds, timestampMs, latitude, longitude, fields }) =>
    deviceIds.map((id, row) => {
      const columns = [timestampMs, latitude, longitude, ...fields];
      return [id, columns.map((values) => values[row])] as const;
    }),
  );
}

async function taken(made: ReturnType<ReturnType<typeof createTakeSnapshot>>): Promise<Snapshot> {
  const result = await made;
  if (!result.ok) throw new Error(`a snapshot, but ${result.error.kind}`);
  return result.value;
}

function reportOf(id: number, timestamp: number, value: number) {
  const position = { device_id: `d${id}`, timestamp, latitude: value / 100, longitude: value / -50 + 1 };
  return value % 3 === 0
    ? position
    : { ...position, speed: value, user_id: `u${value}`, is_mock: value % 2 === 0 };
}

const byId = ([a]: readonly unknown[], [b]: readonly unknown[]) => (String(a) < String(b) ? -1 : 1);

/** Its row, as FIELDS are shown. */
function rowOf(report: ReturnType<typeof reportOf>): readonly unknown[] {
  const { timestamp, latitude, longitude } = report;
  const more =
    "speed" in report ? [report.speed, report.user_id, report.is_mock] : [Number.NaN, "ANONYMOUS", null];
  return [timestamp, latitude, longitude, ...more];
}

test("each row is one record, no older than the sequence, of every device that stays, whatever happens meanwhile", async () => {
  const happening = fc.record({
    id: fc.nat(999),
    value: fc.nat(200),
    forgets: fc.nat(9).map((of10) => of10 === 0),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 40 }), async (story) => {
      const scheduler = new InterruptingScheduler();
      const { hot, take } = createStore(scheduler);
      const reporting = Array.from({ length: 500 }, (_, id) => reportOf(id, NOON_MS - 1000, id));
      const silent = Array.from({ length: 400 }, (_, id) => reportOf(500 + id, NOON_MS - 2000, id));
      hot.restoreNewest(APP, batchOf(silent)); // Those may be forgotten.
      hot.apply(APP, batchOf(reporting), 7);
      hot.keepChanges(7);
      // Every record that was a device's newest since the snapshot was begun.
      const newest = new Map([...reporting, ...silent].map((report) => [report.device_id, [rowOf(report)]]));
      const staying = new Set(newest.keys());
      let step = 0;
      scheduler.between = () => {
        const next = story[step++];
        if (next === undefined) return;
        if (next.forgets) for (const _ of hot.forgetDevices(NOON_MS));
        for (const id of staying) if (hot.findApp(APP)!.find(id) === null) staying.delete(id);
        const report = reportOf(next.id, NOON_MS + step, next.value);
        hot.apply(APP, batchOf([report]), 7 + step);
        newest.set(report.device_id, [...(newest.get(report.device_id) ?? []), rowOf(report)]);
      };
      const snapshot = await taken(take(HOLDER, FIELDS, PATIENT));
      expect(step).toBeGreaterThan(2);
      expect(snapshot.sequence).toBe(7);
      const rows = rowsOf(snapshot);
      for (const [id, row] of rows) expect(newest.get(id)).toContainEqual(row);
      const ids = rows.map(([id]) => id);
      expect(ids).toEqual([...new Set(ids)].sort());
      expect([...staying].filter((id) => !ids.includes(id))).toEqual([]);

      // The stream tells all the rest, or that it can't.
      const app = hot.findApp(APP)!;
      const from = app.changes.positionAfter(snapshot.sequence);
      if (from === null) return;
      const told = new Set<string>();
      for (let at = from; at < app.changes.end; at++)
        told.add(app.table.byNumber(app.changes.deviceAt(at)).id);
      const untold = [...newest].filter(([id]) => !told.has(id)).map(([id, all]) => [id, all.at(-1)]);
      expect(rows.filter(([id]) => !told.has(id))).toEqual(untold.toSorted(byId) as never);
    }),
    { numRuns: 30 },
  );
});

test("the sequence is the app's own, so that it says nothing of others", async () => {
  const { hot, take } = createStore();
  const other = { ...HOLDER, appId: "other" as AppId };
  hot.apply(APP, batchOf([reportOf(1, NOON_MS, 1)]), 3);
  hot.apply(other.appId, batchOf([reportOf(1, NOON_MS, 1)]), 5);
  expect((await taken(take(HOLDER, FIELDS, PATIENT))).sequence).toBe(3);
  expect((await taken(take(other, FIELDS, PATIENT))).sequence).toBe(5);
  expect(await taken(take({ ...HOLDER, appId: "nobody" as AppId }, FIELDS, PATIENT))).toMatchObject({
    sequence: 0,
    blocks: [],
  });
});

test("what became visible since the sequence is known, also where nobody has reported since the start", async () => {
  const { hot, take } = createStore();
  hot.restoreNewest(APP, batchOf([reportOf(1, NOON_MS - 9, 1)]));
  hot.keepChanges(7);
  const changes = () => hot.findApp(APP)!.changes;
  const restored = await taken(take(HOLDER, FIELDS, PATIENT));
  expect(changes().positionAfter(restored.sequence)).toBe(changes().end);
  hot.apply(APP, batchOf([reportOf(1, NOON_MS, 2)]), 8);
  expect(changes().positionAfter(restored.sequence)).toBe(changes().end - 1);
  const moved = await taken(take(HOLDER, FIELDS, PATIENT));
  expect([restored.sequence, moved.sequence]).toEqual([7, 8]);
  expect(changes().positionAfter(moved.sequence)).toBe(changes().end);
});

test("who was silent for the whole retention is left out, and not counted", async () => {
  const { hot, take } = createStore(new Scheduler(), { devicesMax: 1, bytesMax: 1000 });
  const edgeMs = FixedRetention.ofDays(7).startMs(NOON_MS);
  hot.apply(APP, batchOf([reportOf(1, edgeMs - 1, 1), reportOf(2, edgeMs, 2)]), 1);
  expect(rowsOf(await taken(take(HOLDER, FIELDS, PATIENT))).map(([id]) => id)).toEqual(["d2"]);
});

test("more devices than a picture has dots are refused, with what to ask instead", async () => {
  const { hot, take } = createStore(new Scheduler(), { devicesMax: 2, bytesMax: 1000 });
  hot.apply(APP, batchOf([1, 2, 3].map((id) => reportOf(id, NOON_MS, id))), 1);
  expect(await take(HOLDER, FIELDS, PATIENT)).toEqual({
    ok: false,
    error: {
      kind: "invalid_parameter",
      message: "the app has more than 2 devices: ask /api/v1/tiles/{z}/{x}/{y}.mvt for parts of the map",
    },
  });
});

test("snapshots share a bound of memory until each has ended, or its client is gone", async () => {
  const bytes = 100 * (FIELDS.length + 4) * 8;
  const { hot, take } = createStore(new Scheduler(), { devicesMax: 1000, bytesMax: 2.5 * bytes });
  const reports = Array.from({ length: 100 }, (_, id) => reportOf(id, NOON_MS, id));
  hot.apply(APP, batchOf(reports), 1);
  const client = new AbortController();
  const first = await taken(take(HOLDER, FIELDS, client));
  const other = { ...HOLDER, keyId: "other" };
  const second = await taken(take(other, FIELDS, PATIENT));
  const isRefused = async () => !(await take({ ...HOLDER, keyId: "third" }, FIELDS, PATIENT)).ok;
  expect(await isRefused()).toBe(true);
  second.end();
  second.end(); // Gives back nothing twice.
  const third = await taken(take(other, FIELDS, PATIENT));
  expect(await isRefused()).toBe(true);
  client.abort();
  first.end();
  expect(() => take(HOLDER, FIELDS, { signal: AbortSignal.abort() })).toThrow();
  expect(await isRefused()).toBe(false);
  third.end();
});
