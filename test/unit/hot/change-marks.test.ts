import { expect, test } from "bun:test";
import { parseFence } from "../../../src/geofences/parse/drafts.ts";
import { createHotStore, type HotEntry } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { inOneTurn } from "../../../src/lib/schedule/steps.ts";
import type { Correction } from "../../../src/model/correction.ts";
import { hidingEntries, undoEntry } from "../../../src/model/correction-pieces.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import type { WatchEntry } from "../../../src/model/watches/watch-entry.ts";
import { APP, batchOf } from "../../support/reports/batches.ts";

const BASE_MS = Date.UTC(2026, 0, 15);

function fenceEntry(id: string, atMs: number): WatchEntry {
  const geometry = { type: "Point", coordinates: [1, 2] };
  const parsed = parseFence({ type: "Feature", geometry, properties: { radius_meters: 50 } });
  if (!parsed.ok) throw new Error(parsed.error);
  const common = { kind: "watch", appId: APP, id, watchKind: "fence", atMs, part: null, past: null } as const;
  return { ...common, draft: parsed.value };
}

function createStore() {
  const hot = createHotStore(new Scheduler());
  let sequence = 0;
  return {
    hot,
    report(deviceId: string, ...seconds: number[]): void {
      const position = { latitude: 1, longitude: 2 };
      const reports = seconds.map((second) => ({
        device_id: deviceId,
        timestamp: BASE_MS + second * 1000,
        ...position,
      }));
      hot.apply(APP, batchOf(reports), ++sequence);
    },
    apply: (entry: HotEntry) => inOneTurn(hot.applyStanding(entry, ++sequence)),
    /** What is marked, in seconds; forgets it. */
    take(): unknown[] {
      const { devices, watches } = hot.marks().ofApp(APP);
      const seconds = [...devices].map(([id, { fromMs, sequence }]) => [
        id,
        (fromMs - BASE_MS) / 1000,
        sequence,
      ]);
      devices.clear();
      const changed = [...watches.keys()];
      watches.clear();
      return changed.length === 0 ? seconds : [...seconds, ...changed];
    },
  };
}

test("ChangeMarks has nothing of an app without fences, nor of entries that are decided", () => {
  const store = createStore();
  store.hot.marks().decidedSequence = 0;
  store.report("a", 1);
  expect(store.take()).toEqual([]);
  store.hot.marks().decidedSequence = 3;
  store.apply(fenceEntry("depot", BASE_MS));
  store.report("a", 2);
  expect(store.take()).toEqual([]);
  store.report("a", 3);
  expect(store.take()).toEqual([["a", 3, 4]]);
});

test("ChangeMarks has the earliest instant of each device whose records came or changed, and the first entry", () => {
  const store = createStore();
  store.hot.marks().decidedSequence = 0;
  store.apply(fenceEntry("depot", BASE_MS));
  expect(store.take()).toEqual(["depot"]);
  store.report("a", 5, 6);
  store.report("b", 9);
  store.report("a", 4, 7);
  expect(store.take()).toEqual([
    ["a", 4, 2],
    ["b", 9, 3],
  ]);
  store.report("a", 4, 7);
  expect(store.take()).toEqual([]); // They were known.
});

test("ChangeMarks has devices whose records corrections hide and show again, and whose records are erased", () => {
  const store = createStore();
  store.hot.marks().decidedSequence = 0;
  store.apply(fenceEntry("depot", BASE_MS));
  store.report("a", 1, 2, 3, 4);
  store.take();
  const deviceId = "a" as DeviceId;
  const [firstMs, lastMs] = [BASE_MS + 2000, BASE_MS + 3000];
  const correction: Correction = {
    ...{ id: "c", action: "hide", deviceId, selection: {}, note: null, createdMs: 0, createdBy: "key" },
    ...{ repetition: null, target: null, records: 2, firstMs, lastMs },
  };
  for (const entry of hidingEntries(APP, 0, correction, Float64Array.of(firstMs, lastMs))) store.apply(entry);
  expect(store.take()).toEqual([["a", 2, 3]]);
  store.report("a", 3);
  expect(store.take()).toEqual([]); // It is hidden.
  store.apply(undoEntry(APP, 1, "c"));
  expect(store.take()).toEqual([["a", 2, 5]]);
  const range = { startMs: BASE_MS + 1000, endMs: BASE_MS + 2000 };
  const erasure = {
    ...{ id: "e", appId: APP, deviceIds: [deviceId], userId: null, range },
    ...{ block: false, createdMs: 0, createdBy: "key", continues: false },
  };
  store.apply({ kind: "erasure", appId: APP, previous: 2, erasure, newest: [], corrections: [] });
  expect(store.take()).toEqual([["a", 1, 6]]);
});

test("a mark that is noted twice keeps the earlier instant and the earlier entry", () => {
  const { hot, report, apply } = createStore();
  hot.marks().decidedSequence = 0;
  apply(fenceEntry("fence", BASE_MS));
  const { devices } = hot.marks().ofApp(APP);
  report("bus", 50);
  const first = devices.get("bus" as DeviceId)!;
  const { fromMs, sequence } = first;
  devices.delete("bus" as DeviceId); // Taken, to be decided.
  report("bus", 60);
  hot
    .marks()
    .ofApp(APP)
    .note("bus" as DeviceId, fromMs, sequence);
  expect(devices.get("bus" as DeviceId)).toMatchObject({ fromMs, sequence });
});
