import { expect, test } from "bun:test";
import { createHotStore, type HotStore } from "../../../src/hot/hot-store.ts";
import { profileAt, timestampAt } from "../../../src/hot/records/chunk.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { inOneTurn, type Steps } from "../../../src/lib/schedule/steps.ts";
import type { Correction } from "../../../src/model/correction.ts";
import { hidingEntries } from "../../../src/model/correction-pieces.ts";
import { type Erasure, isErased } from "../../../src/model/erasure.ts";
import { ANONYMOUS, type AppId, type DeviceId, type UserId } from "../../../src/model/ids.ts";
import { utcDayOf } from "../../../src/model/time/utc-day.ts";
import * as fc from "../../support/fast-check.ts";
import { batchOf } from "../../support/reports/batches.ts";

/*
 * After an erasure memory has what a plain list has from which the erased records were struck, also while a seal reads
 * or drops them, and the seal archives each record once.
 */

const APP = "app" as AppId;
const BASE_MS = Date.UTC(2026, 0, 15);
const DAY = utcDayOf(BASE_MS);
const DEVICES = ["a", "b", "c"] as DeviceId[];
const USERS = [null, "u", "v"] as (UserId | null)[];
const STEP_MS = 1000;
/** More than one step of an erasure. */
const RECORDS = 1500;

interface PlainRecord {
  readonly deviceId: DeviceId;
  readonly timeMs: number;
  readonly userId: UserId | null;
}

class Store {
  readonly hot: HotStore = createHotStore(new Scheduler());
  records: PlainRecord[] = [];
  readonly hidden = new Set<string>();
  sequence = 0;
  #made = 0;

  report(deviceId: DeviceId, from: number, length: number, userId: UserId | null): void {
    const times = Array.from({ length }, (_, i) => BASE_MS + (from + i) * STEP_MS);
    const user = userId === null ? {} : { user_id: userId };
    const reports = times.map((timestamp) => ({
      device_id: deviceId,
      timestamp,
      latitude: 1,
      longitude: 2,
      ...user,
    }));
    this.hot.apply(APP, batchOf(reports), ++this.sequence);
    const isOld = new Set(times);
    const before = this.records.filter((record) => record.deviceId === deviceId && isOld.has(record.timeMs));
    const userOf = (timeMs: number) =>
      userId ?? before.find((record) => record.timeMs === timeMs)?.userId ?? null;
    const laid = times.map((timeMs) => ({ deviceId, timeMs, userId: userOf(timeMs) }));
    this.records = [...this.records.filter((record) => !before.includes(record)), ...laid];
  }

  *hide(deviceId: DeviceId, from: number, length: number): Steps<void> {
    const startMs = BASE_MS + from * STEP_MS;
    const shown = this.shownOf(deviceId).filter((ms) => ms >= startMs && ms < startMs + length * STEP_MS);
    if (shown.length === 0) return;
    const timestampMs = Float64Array.from(shown);
    const id = `c${this.#made++}`;
    const correction: Correction = {
      ...{ id, action: "hide", deviceId, selection: {}, note: null, createdMs: 0, createdBy: "key" },
      ...{ repetition: null, target: null, records: shown.length, firstMs: shown[0]!, lastMs: shown.at(-1)! },
    };
    const previous = this.hot.corrections.find(APP)?.number ?? 0;
    for (const ms of shown) this.hidden.add(`${deviceId} ${ms}`);
    for (const entry of hidingEntries(APP, previous, correction, timestampMs))
      yield* this.hot.applyStanding(entry, ++this.sequence);
  }

  *erase(deviceId: DeviceId | null, userId: UserId | null, from: number, length: number | null): Steps<void> {
    const range = {
      startMs: length === null ? Number.NEGATIVE_INFINITY : BASE_MS + from * STEP_MS,
      endMs: length === null ? Number.POSITIVE_INFINITY : BASE_MS + (from + length) * STEP_MS,
    };
    const subject = { appId: APP, deviceIds: deviceId === null ? [] : [deviceId], userId, range };
    const made = { id: "e", block: false, createdMs: 0, createdBy: "key", continues: false };
    const erasure: Erasure = { ...subject, ...made };
    const isGone = (record: PlainRecord) => isErased(subject, record.deviceId, record.userId, record.timeMs);
    if (deviceId !== null) this.#forgetHidden(deviceId, range);
    this.records = this.records.filter((record) => !isGone(record));
    const effect = { erasure, newest: [], corrections: [] };
    const previous = this.hot.corrections.find(APP)?.number ?? 0;
    yield* this.hot.applyStanding({ kind: "erasure", appId: APP, previous, ...effect }, ++this.sequence);
  }

  /** Corrections of erased records go as a whole. */
  #forgetHidden(deviceId: DeviceId, { startMs, endMs }: Erasure["range"]): void {
    for (const { correction, timestampMs } of this.hot.corrections.list(APP, deviceId, true))
      if (correction.firstMs < endMs && correction.lastMs >= startMs)
        for (const ms of timestampMs) this.hidden.delete(`${deviceId} ${ms}`);
  }

  shownOf(deviceId: DeviceId): number[] {
    return this.records
      .filter((record) => record.deviceId === deviceId && !this.hidden.has(`${deviceId} ${record.timeMs}`))
      .map(({ timeMs }) => timeMs)
      .sort((a, b) => a - b);
  }
}

/** What memory shows of a device, with users. */
function recordsOf(
  hot: HotStore,
  deviceId: DeviceId,
): { readonly timeMs: number; readonly userId: string | null }[] {
  const device = hot.findApp(APP)?.find(deviceId) ?? null;
  if (device === null) return [];
  const rows: { timeMs: number; userId: string | null }[] = [];
  const users = new Map(["u", "v", ANONYMOUS].map((id) => [hot.dictionary.findUser(id as UserId), id]));
  device.runs(0, device.recordCount, (chunk, from, to) => {
    for (let row = from; row < to; row++)
      rows.push({
        timeMs: timestampAt(chunk, row),
        userId: users.get(hot.dictionary.userOf(profileAt(chunk, row))) ?? null,
      });
  });
  return rows;
}

function expectSame(store: Store): void {
  for (const deviceId of DEVICES) {
    expect(recordsOf(store.hot, deviceId).map(({ timeMs }) => timeMs)).toEqual(store.shownOf(deviceId));
    for (const { timeMs, userId } of recordsOf(store.hot, deviceId)) {
      const record = store.records.find((each) => each.deviceId === deviceId && each.timeMs === timeMs)!;
      expect(userId ?? ANONYMOUS).toBe(record.userId ?? ANONYMOUS);
    }
    const device = store.hot.findApp(APP)?.find(deviceId) ?? null;
    const newestMs = store.shownOf(deviceId).at(-1) ?? Number.NEGATIVE_INFINITY;
    expect(device?.newestMs ?? Number.NEGATIVE_INFINITY).toBe(newestMs);
  }
  expect(store.hot.recordCount).toBe(store.records.length);
}

const changes = fc.oneof(
  fc.record({
    type: fc.constant("report" as const),
    device: fc.constantFrom(...DEVICES),
    from: fc.nat(RECORDS - 1),
    length: fc.constantFrom(1, 40, 300),
    user: fc.constantFrom(...USERS),
  }),
  fc.record({
    type: fc.constant("hide" as const),
    device: fc.constantFrom(...DEVICES),
    from: fc.nat(RECORDS - 1),
    length: fc.constantFrom(1, 40, 1200),
  }),
  fc.record({
    type: fc.constant("erase" as const),
    device: fc.constantFrom(...DEVICES, null),
    user: fc.constantFrom("u" as UserId, "v" as UserId),
    from: fc.nat(RECORDS - 1),
    length: fc.constantFrom(1, 100, 1300, null),
  }),
);
type Change = typeof changes extends fc.Arbitrary<infer Value> ? Value : never;

function* perform(store: Store, change: Change): Steps<void> {
  const { from } = change;
  const length = Math.min(change.length ?? RECORDS, RECORDS - from);
  if (change.type === "report") store.report(change.device, from, length, change.user);
  else if (change.type === "hide") yield* store.hide(change.device, from, length);
  else
    yield* store.erase(
      change.device,
      change.device === null ? change.user : null,
      from,
      change.length === null ? null : length,
    );
}

function filledStore(): Store {
  const store = new Store();
  for (const [at, device] of DEVICES.entries()) store.report(device, 0, RECORDS, USERS[at]!);
  return store;
}

test("memory has what a list has from which erased records are struck", () => {
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 12 }), (all) => {
      const store = filledStore();
      for (const change of all) {
        inOneTurn(perform(store, change));
        expectSame(store);
      }
    }),
  );
});

test("a seal that reads meanwhile archives what there was, and memory has nothing of it afterwards", () => {
  fc.assert(
    fc.property(
      fc.array(changes, { maxLength: 6 }),
      fc.array(changes, { maxLength: 6 }),
      (reading, dropping) => {
        const store = filledStore();
        const { hot } = store;
        const expected = store.records.map(({ deviceId, timeMs }) => `${deviceId} ${timeMs}`).sort();
        const sealing = hot.seal([DAY]);
        const { sequence } = store;
        const keys: string[] = [];
        const waiting = [...reading];
        for (const { batch } of sealing.rows(DAY)) {
          const { count, texts, device, timestampMs } = batch;
          for (let row = 0; row < count; row++) keys.push(`${texts[device[row]!]} ${timestampMs[row]}`);
          const change = waiting.shift();
          if (change !== undefined) inOneTurn(perform(store, change));
        }
        for (const change of waiting) inOneTurn(perform(store, change));
        expect(keys.sort()).toEqual(expected);
        sealing.commit(new Set([DAY]), new Map([[DAY, sequence]]));
        const later = [...dropping];
        for (const _ of sealing.drop()) {
          const change = later.shift();
          if (change?.type === "erase") inOneTurn(perform(store, change));
        }
      },
    ),
  );
});

test("a correction that another node made of records before they were erased has no effect, also after a restart", () => {
  const store = new Store();
  store.report("a" as DeviceId, 0, 3, null);
  const planned = [...hidingOf(store.hot, "a" as DeviceId, 3)];
  inOneTurn(store.erase("a" as DeviceId, null, 0, null));
  const restored = createHotStore(new Scheduler());
  for (const entry of store.hot.correctionEntries()) restored.restoreStanding(entry);
  restored.endRestoreStanding(store.sequence);
  for (const hot of [store.hot, restored]) {
    let { sequence } = store;
    for (const entry of planned) inOneTurn(hot.applyStanding(entry, ++sequence));
    expect(hot.corrections.list(APP, null, null)).toEqual([]);
    for (const entry of hidingOf(hot, "a" as DeviceId, 3)) inOneTurn(hot.applyStanding(entry, ++sequence));
    expect(hot.corrections.list(APP, null, null)).toHaveLength(1);
  }
});

/** Hides the first records of a device, as a node plans it that knows this memory. */
function hidingOf(hot: HotStore, deviceId: DeviceId, records: number) {
  const timestampMs = Float64Array.from({ length: records }, (_, i) => BASE_MS + i * STEP_MS);
  const [firstMs, lastMs] = [timestampMs[0]!, timestampMs.at(-1)!];
  const correction: Correction = {
    ...{ id: "c", action: "hide", deviceId, selection: {}, note: null, createdMs: 0, createdBy: "key" },
    ...{ repetition: null, target: null, records, firstMs, lastMs },
  };
  return hidingEntries(APP, hot.corrections.find(APP)?.number ?? 0, correction, timestampMs);
}
