import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { inOneTurn, type Steps } from "../../../../src/lib/schedule/steps.ts";
import type { Correction } from "../../../../src/model/correction.ts";
import { hidingEntries, undoEntry } from "../../../../src/model/correction-pieces.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { utcDayOf } from "../../../../src/model/time/utc-day.ts";
import * as fc from "../../../support/fast-check.ts";
import { batchOf } from "../../../support/reports/batches.ts";

const APP = "app" as AppId;
const BASE_MS = Date.UTC(2026, 0, 15);
const DAY = utcDayOf(BASE_MS);
const DEVICES = ["a", "b", "c"];
/** More than a batch of a seal has, so that corrections come while a device is read. */
const RECORDS = 1500;

class Store {
  readonly hot = createHotStore(new Scheduler());
  #sequence = 0;
  #made = 0;
  readonly active: string[] = [];
  readonly hidden = new Map<string, readonly [device: string, from: number, to: number]>();

  constructor() {
    for (const device_id of DEVICES)
      this.hot.apply(
        APP,
        batchOf(
          Array.from({ length: RECORDS }, (_, i) => ({
            ...{ device_id, timestamp: BASE_MS + i * 1000, latitude: 1, longitude: 2 },
          })),
        ),
        ++this.#sequence,
      );
  }

  get sequence(): number {
    return this.#sequence;
  }

  *hide(deviceId: string, from: number, to: number): Steps<void> {
    for (const [device, start, end] of this.hidden.values())
      if (device === deviceId && from < end && start < to) return; // A correction touches what shows.
    const id = `c${this.#made++}`;
    const timestampMs = Float64Array.from({ length: to - from }, (_, i) => BASE_MS + (from + i) * 1000);
    const correction: Correction = {
      ...{ id, action: "hide", deviceId: deviceId as DeviceId, selection: {}, note: null, createdMs: 0 },
      ...{ createdBy: "key", repetition: null, target: null, records: to - from },
      ...{ firstMs: timestampMs[0]!, lastMs: timestampMs.at(-1)! },
    };
    const previous = this.hot.corrections.find(APP)?.number ?? 0;
    for (const entry of hidingEntries(APP, previous, correction, timestampMs))
      yield* this.hot.applyStanding(entry, ++this.#sequence);
    this.hidden.set(id, [deviceId, from, to]);
    this.active.push(id);
  }

  *undo(which: number): Steps<void> {
    const [id] = this.active.splice(which % Math.max(1, this.active.length), 1);
    if (id === undefined) return;
    const previous = this.hot.corrections.find(APP)!.number;
    yield* this.hot.applyStanding(undoEntry(APP, previous, id), ++this.#sequence);
    this.hidden.delete(id);
  }
}

const changes = fc.record({
  undoes: fc.boolean(),
  which: fc.nat(5),
  device: fc.constantFrom(...DEVICES),
  from: fc.nat(RECORDS - 1),
  length: fc.constantFrom(1, 40, 1200),
});

test("a seal archives every record once, whatever corrections hide and show while it reads", () => {
  fc.assert(
    fc.property(
      fc.array(changes, { maxLength: 4 }),
      fc.array(fc.array(changes, { maxLength: 3 }), { minLength: 8, maxLength: 8 }),
      (before, meanwhile) => {
        const store = new Store();
        const { hot } = store;
        const change = ({ undoes, which, device, from, length }: (typeof before)[number]) =>
          undoes ? store.undo(which) : store.hide(device, from, Math.min(RECORDS, from + length));
        for (const each of before) inOneTurn(change(each));
        const waiting: typeof before = [];
        let running: Steps<void> | null = null;
        /** Up to three steps of changes, of which the last may be unfinished. */
        const proceed = (changes: typeof before) => {
          waiting.push(...changes);
          for (let step = 0; step < 3 && (running !== null || waiting.length > 0); step++) {
            running ??= change(waiting.shift()!);
            if (running.next().done === true) running = null;
          }
        };
        const sealing = hot.seal([DAY]);
        const { sequence } = store;
        const keys: string[] = [];
        let turn = 0;
        for (const { batch } of sealing.rows(DAY)) {
          const { count, texts, device, timestampMs } = batch;
          for (let row = 0; row < count; row++) keys.push(`${texts[device[row]!]} ${timestampMs[row]}`);
          proceed(meanwhile[turn++] ?? []);
        }
        expect(keys.length).toBe(DEVICES.length * RECORDS);
        expect(new Set(keys).size).toBe(keys.length);
        sealing.commit(new Set([DAY]), new Map([[DAY, sequence]]));
        let dropped = 0;
        for (const _ of sealing.drop()) if (dropped++ % 2 === 0) proceed(meanwhile[dropped % 8]!);
        while (running !== null || waiting.length > 0) proceed([]);
      },
    ),
  );
});
