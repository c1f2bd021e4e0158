import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { numberAt } from "../../../../src/hot/records/chunk.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { inOneTurn, type Steps } from "../../../../src/lib/schedule/steps.ts";
import type { Correction } from "../../../../src/model/correction.ts";
import { undoEntry } from "../../../../src/model/correction-pieces.ts";
import type { DeviceId } from "../../../../src/model/ids.ts";
import { numberIndex } from "../../../../src/model/location-fields.ts";
import { type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import * as fc from "../../../support/fast-check.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";

/** What an assigned device reports shows as another's and is archived as its own, once, whenever a seal comes. */

const BASE_MS = Date.UTC(2026, 0, 15);
const DAY = utcDayOf(BASE_MS);
const RECORDS = 1500;
const SECONDS_PER_DAY = 86_400;

/** A device "old" with records, and "new" with records between these. */
class Store {
  readonly hot = createHotStore(new Scheduler());
  sequence = 0;
  #isAssigned = false;
  readonly reported = new Set<string>();

  constructor(reports = RECORDS) {
    this.report("old", 0, reports);
    this.report("new", RECORDS, RECORDS + reports);
  }

  report(device_id: string, from: number, to: number): void {
    const reports = Array.from({ length: to - from }, (_, i) => ({
      ...{ device_id, timestamp: BASE_MS + (from + i) * 1000, latitude: 1, longitude: 2 },
    }));
    for (const { timestamp } of reports) this.reported.add(`${device_id} ${timestamp}`);
    this.hot.apply(APP, batchOf(reports), ++this.sequence);
  }

  *toggle(): Steps<void> {
    this.#isAssigned = !this.#isAssigned;
    const previous = this.hot.corrections.find(APP)?.number ?? 0;
    const id = `c${Math.floor(previous / 2)}`;
    const change = { type: "assign", id, correction: assignment(id) } as const;
    const entry = this.#isAssigned
      ? ({ kind: "correction", appId: APP, previous, change } as const)
      : undoEntry(APP, previous, id);
    yield* this.hot.applyStanding(entry, ++this.sequence);
  }

  /** How many records answers show of each device. */
  shown(): number[] {
    const app = this.hot.findApp(APP);
    return ["old", "new"].map((id) => app?.find(id)?.recordCount ?? 0);
  }
}

function assignment(id: string): Correction {
  return {
    ...{ id, action: "assign", deviceId: "old" as DeviceId, selection: {}, note: null, createdMs: 0 },
    ...{
      createdBy: "key",
      repetition: null,
      isOfDevice: true,
      records: 1,
      firstMs: BASE_MS,
      lastMs: BASE_MS,
    },
    target: { deviceId: "new" as DeviceId, byMs: 0, position: null, userId: "ada" },
  };
}

test("a seal archives every report once and as reported, and drops what only shows", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(fc.nat(3), { minLength: 12, maxLength: 12 }), (isFirst, deeds) => {
      const store = new Store();
      if (isFirst) inOneTurn(store.toggle());
      const before = new Set(store.reported);
      const sealing = store.hot.seal([DAY]);
      const { sequence } = store;
      let running: Steps<void> | null = null;
      let later = 0;
      const proceed = (deed: number | undefined) => {
        if (running !== null) {
          if (running.next().done === true) running = null;
        } else if (deed === 0) running = store.toggle();
        else if (deed === 1) {
          // Both report the same new instant, so the one's own shows.
          const at = 2 * RECORDS + later++;
          store.report("old", at, at + 1);
          if (later % 2 === 0) store.report("new", at, at + 1);
        }
      };
      const archived: string[] = [];
      let turn = 0;
      for (const { batch } of sealing.rows(DAY)) {
        const { count, texts, device, timestampMs } = batch;
        for (let row = 0; row < count; row++) archived.push(`${texts[device[row]!]} ${timestampMs[row]}`);
        proceed(deeds[turn++]);
      }
      expect(new Set(archived)).toEqual(before);
      expect(archived.length).toBe(before.size);
      sealing.commit(new Set([DAY]), new Map([[DAY, sequence]]));
      for (const _ of sealing.drop()) proceed(deeds[turn++ % deeds.length]);
      while (running !== null) proceed(undefined);
    }),
  );
});

test("undoing gives both devices their own records back, and a seal leaves no copy in memory", () => {
  const store = new Store();
  inOneTurn(store.toggle());
  expect(store.shown()).toEqual([0, 2 * RECORDS]);
  store.report("old", 2 * RECORDS, 2 * RECORDS + 2);
  store.report("new", 2 * RECORDS, 2 * RECORDS + 1);
  expect(store.shown()).toEqual([0, 2 * RECORDS + 2]);
  inOneTurn(store.toggle());
  expect(store.shown()).toEqual([RECORDS + 2, RECORDS + 1]);
  inOneTurn(store.toggle());
  const sealing = store.hot.seal([DAY]);
  for (const _ of sealing.rows(DAY));
  sealing.commit(new Set([DAY]), new Map([[DAY, store.sequence]]));
  for (const _ of sealing.drop());
  expect([store.shown(), store.hot.recordCount]).toEqual([[0, 0], 0]);
  const device = store.hot.findApp(APP)!.find("new")!;
  expect(device.newestMs).toBe(BASE_MS + (2 * RECORDS + 1) * 1000);
});

test("a long assignment is made and undone in steps", () => {
  const store = new Store();
  for (const _ of [1, 2]) {
    let steps = 0;
    for (const running = store.toggle(); running.next().done !== true; ) steps++;
    expect(steps).toBeGreaterThanOrEqual(2);
  }
});

test("between the steps of an assignment or its undoing, each device shows with the time of its newest record", () => {
  const deed = fc.constantFrom("toggle", "seal", "old", "new");
  fc.assert(
    fc.property(fc.nat(1), fc.array(deed, { maxLength: 8 }), (reports, deeds) => {
      const store = new Store(reports);
      const { hot } = store;
      let day = 0;
      for (const deed of deeds) {
        if (deed === "toggle") {
          for (const _ of store.toggle()) {
            const app = hot.findApp(APP)!;
            for (const device of ["old", "new"].flatMap((id) => app.find(id) ?? []))
              expect(app.newestTimes.of(device.number)).toBe(device.newestMs);
          }
        } else if (deed === "seal") {
          const days = Array.from({ length: day + 1 }, (_, later) => (DAY + later) as UtcDay);
          const sealing = hot.seal(days);
          for (const due of days) for (const _ of sealing.rows(due));
          sealing.commit(new Set(days), new Map(days.map((due) => [due, store.sequence])));
          for (const _ of sealing.drop());
        } else {
          const from = ++day * SECONDS_PER_DAY;
          store.report(deed, from, from + RECORDS);
        }
      }
    }),
    // The newest record that shows as "new" is archived, and what "old" reported since takes several steps.
    { examples: [[0, ["old", "toggle", "seal", "old", "toggle"]]] },
  );
});

test("copies of a device follow its reports after another device is assigned to the same one", () => {
  const hot = createHotStore(new Scheduler());
  let sequence = 0;
  const report = (device_id: string, timestamp: number, speed: number) =>
    hot.apply(APP, batchOf([{ device_id, timestamp, latitude: 1, longitude: 2, speed }]), ++sequence);
  report("old", BASE_MS, 1);
  report("older", BASE_MS + 1, 1);
  for (const [previous, deviceId] of (["old", "older"] as DeviceId[]).entries()) {
    const correction = { ...assignment(deviceId), deviceId };
    const change = { type: "assign", id: deviceId, correction } as const;
    inOneTurn(hot.applyStanding({ kind: "correction", appId: APP, previous, change }, ++sequence));
  }
  report("old", BASE_MS, 7);
  const { chunk, row } = hot.findApp(APP)!.find("new")!.findRecord(BASE_MS)!;
  expect(numberAt(chunk, row, numberIndex("speed"))).toBe(7);
});

test("a device's own late record is no copy, also while the next seal drops late rows", () => {
  const store = new Store();
  inOneTurn(store.toggle());
  const at = BASE_MS + 1;
  const report = (device_id: string, members: object) =>
    store.hot.apply(
      APP,
      batchOf([{ device_id, timestamp: at, latitude: 1, longitude: 2, ...members }]),
      ++store.sequence,
    );
  const seal = (meanwhile: () => void, whileLeaving: () => void) => {
    const sealing = store.hot.seal([DAY]);
    const { sequence } = store;
    for (const _ of sealing.rows(DAY));
    meanwhile();
    sealing.commit(new Set([DAY]), new Map([[DAY, sequence]]));
    whileLeaving();
    for (const _ of sealing.drop());
  };
  report("old", {});
  report("new", {});
  seal(
    () => {},
    () => {},
  );
  report("old", { battery_level: 1 });
  report("new", { battery_level: 2 });
  seal(
    () => report("new", { speed: 5 }),
    () => report("new", { altitude: 6 }),
  );
  const { chunk, row } = store.hot.findApp(APP)!.find("new")!.findRecord(at)!;
  const numbers = (["speed", "altitude"] as const).map((name) => numberAt(chunk, row, numberIndex(name)));
  expect(numbers).toEqual([5, 6]);
});

test("the checkpoint of a seal has the newest record as it was when that began, if its device is assigned meanwhile", () => {
  const store = new Store();
  const last = { device_id: "old", timestamp: BASE_MS + 3 * RECORDS * 1000, longitude: 2 };
  const apply = (latitude: number) =>
    store.hot.apply(APP, batchOf([{ ...last, latitude }]), ++store.sequence);
  apply(3);
  const first = store.hot.seal([DAY]);
  for (const _ of first.rows(DAY));
  first.commit(new Set([DAY]), new Map([[DAY, store.sequence]]));
  for (const _ of first.drop());
  apply(4);
  const sealing = store.hot.seal([DAY]);
  inOneTurn(store.toggle());
  const newest: unknown[] = [];
  for (const { batch } of sealing.newest(0, new Set([DAY]))) {
    const { count, texts, device, numbers } = batch;
    for (let row = 0; row < count; row++)
      newest.push([texts[device[row]!], numbers[numberIndex("latitude")]![row]]);
  }
  expect(newest).toEqual([["old", 4]]);
});
