import { expect, test } from "bun:test";
import { ChangeRing } from "../../../src/hot/change-ring.ts";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Dictionary } from "../../../src/hot/records/dictionary.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { SharedPool } from "../../../src/lib/schedule/shared-pool.ts";
import { hashText } from "../../../src/lib/tables/hash.ts";
import type { AppId } from "../../../src/model/ids.ts";
import * as fc from "../../support/fast-check.ts";
import { APP, batchOf } from "../../support/reports/batches.ts";

const MINUTE_MS = 60_000;
const BASE_MS = Date.UTC(2026, 0, 14);

interface Change {
  readonly device: number;
  readonly sequence: number;
  readonly before: number;
}

function changesOf(ring: ChangeRing): Change[] {
  const changes: Change[] = [];
  for (let at = ring.first; at < ring.end; at++) {
    const before = ring.latitudeBefore(at);
    if (ring.longitudeBefore(at) !== -before || ring.userHashBefore(at) !== before) throw new Error(`${at}`);
    changes.push({ device: ring.deviceAt(at), sequence: ring.sequenceAt(at), before });
  }
  return changes;
}

/** Few, some of which lie far from the others. */
const devices = fc.oneof({ weight: 4, arbitrary: fc.nat(40) }, fc.constantFrom(4095, 4096, 20_000));
const steps = fc.array(
  fc.oneof(
    { weight: 40, arbitrary: fc.record({ device: devices, isNewEntry: fc.boolean() }) },
    { weight: 1, arbitrary: fc.constant("clear" as const) },
  ),
  { maxLength: 400, size: "max" },
);

test("a ring knows the last changes, one of a device and entry, and what came after an entry", () => {
  fc.assert(
    fc.property(fc.constantFrom(4, 64, 128), steps, (changesMax, story) => {
      const room = { pool: new SharedPool(1 << 20), changesMax, nowMs: () => 0 };
      const ring = new ChangeRing("app", 0, room);
      let plain: Change[] = [];
      let [sequence, knownSince] = [1, 0];
      for (const [before, step] of story.entries()) {
        if (step === "clear") {
          const { end } = ring;
          ring.clear(sequence);
          plain = [];
          knownSince = ++sequence;
          expect(ring.first).toBeGreaterThan(end);
          expect(ring.clearedAt).toBe(ring.first);
          continue;
        }
        if (step.isNewEntry) sequence++;
        const { device } = step;
        ring.note(device, sequence, before, -before, before);
        if (!plain.some((change) => change.device === device && change.sequence === sequence)) {
          plain.push({ device, sequence, before });
        }
        if (plain.length > changesMax) knownSince = plain.shift()!.sequence;
      }
      expect(changesOf(ring)).toEqual(plain);
      const sinces = Array.from({ length: sequence + 1 }, (_, since) => since);
      const positions = sinces.map((since) => {
        const from = plain.findIndex((change) => change.sequence > since);
        if (since < knownSince) return null;
        return from === -1 ? ring.end : ring.first + from;
      });
      expect(sinces.map((since) => ring.positionAfter(since))).toEqual(positions);
    }),
  );
});

test("a ring grows by laps that are over in a quarter of an hour, as long as there is room", () => {
  let nowMs = 0;
  const pool = new SharedPool(160);
  const ring = new ChangeRing("app", 0, { pool, changesMax: 1 << 16, nowMs: () => nowMs });
  let sequence = 0;
  const note = (count: number) => {
    for (let i = 0; i < count; i++) ring.note(1, ++sequence, 0, 0, 0);
    return ring.end - ring.first;
  };
  expect(note(64)).toBe(64);
  nowMs += 15 * MINUTE_MS;
  expect(note(64)).toBe(64); // A slow lap: the oldest go.
  nowMs += 15 * MINUTE_MS - 1;
  expect(note(64)).toBe(128);
  expect(pool.used).toBe(64);
  expect(note(1000)).toBe(128); // More than is left.
  ring.clear(sequence);
  expect(pool.used).toBe(0);
  expect(note(200)).toBe(128);
});

test("a ring that has grown in the midst of an entry still knows whom it has a change of", () => {
  let nowMs = 0;
  const room = { pool: new SharedPool(1024), changesMax: 1024, nowMs: () => nowMs };
  const ring = new ChangeRing("app", 0, room);
  for (let device = 0; device < 64; device++) ring.note(device, 1, 0, 0, 0);
  nowMs += 15 * MINUTE_MS; // A slow lap: the next begins in the place of the first.
  for (let device = 0; device < 64; device++) ring.note(device, 2, 0, 0, 0);
  ring.note(64, 2, 0, 0, 0);
  expect(ring.end - ring.first).toBe(65);
  ring.note(63, 2, 0, 0, 0);
  expect(ring.end - ring.first).toBe(65);
});

/** A store that keeps changes, of some reports that it took in. */
function createStore(reports: readonly Readonly<Record<string, unknown>>[] = []) {
  const room = { pool: new SharedPool(1024), changesMax: 64, nowMs: () => 0 };
  const hot = createHotStore(new Scheduler(), new Dictionary(), room);
  let sequence = 0;
  const report = (...more: readonly Readonly<Record<string, unknown>>[]) =>
    hot.apply(
      APP,
      batchOf(more.map((one) => ({ device_id: "a", latitude: 1, longitude: 2, ...one }))),
      ++sequence,
    );
  for (const one of reports) report(one);
  hot.keepChanges(sequence);
  return { hot, report };
}

test("keepChanges() remembers what becomes visible from then on, and what it was before", () => {
  const { hot, report } = createStore([{ timestamp: BASE_MS + 10, user_id: "u" }]);
  const told: AppId[] = [];
  hot.watchChanges((appId) => told.push(appId));
  const { changes } = hot.findApp(APP)!;
  expect(changes.positionAfter(0)).toBeNull();
  expect(changes.positionAfter(1)).toBe(changes.end);

  report({ timestamp: BASE_MS + 5 }); // Late: nothing is visible of it.
  report({ timestamp: BASE_MS + 10, user_id: "u" }); // A repeat.
  expect(told).toEqual([]);
  report({ timestamp: BASE_MS + 10, user_id: "v", latitude: 3 }, { timestamp: BASE_MS + 11, latitude: 4 });
  report({ timestamp: BASE_MS + 12, device_id: "b" }, { timestamp: BASE_MS + 13, latitude: 5 });
  expect(told).toEqual([APP, APP]);
  const seen = [];
  for (let at = changes.first; at < changes.end; at++) {
    seen.push([changes.sequenceAt(at), changes.latitudeBefore(at), changes.userHashBefore(at)]);
  }
  expect(seen).toEqual([
    [4, 1, hashText("u")],
    [5, Number.NaN, 0],
    [5, 4, hashText("ANONYMOUS")],
  ]);
});

test("forgetDevices() has an app forget its changes, and who knows less than all starts anew", () => {
  const { hot, report } = createStore();
  report({ timestamp: BASE_MS + 10 });
  const { changes } = hot.findApp(APP)!;
  expect(hot.changesSince).toBe(0);
  hot.seal([]).abandon();
  const days = hot.daysInMemory().map(({ day }) => day);
  const sealing = hot.seal(days);
  sealing.commit(new Set(days), new Map(days.map((day) => [day, 1])));
  for (const _ of sealing.drop());
  for (const _ of hot.forgetDevices(BASE_MS + 11));
  expect(hot.findApp(APP)).toBeNull();
  expect(changes.first).toBe(changes.end);
  expect(changes.positionAfter(1)).toBeNull();
  expect(hot.changesSince).toBe(2);
  report({ timestamp: BASE_MS + 4 * 86_400_000 });
  expect(hot.findApp(APP)!.changes.positionAfter(1)).toBeNull();
  expect(hot.findApp(APP)!.changes.positionAfter(2)).not.toBeNull();
});
