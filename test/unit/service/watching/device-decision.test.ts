import { expect, test } from "bun:test";
import { decideEvents } from "../../../../src/geofences/decision.ts";
import { createShape } from "../../../../src/geofences/shape.ts";
import type { Watch, WatchEvent, WatchedRecord } from "../../../../src/geofences/watch.ts";
import { haversineMeters } from "../../../../src/model/geo/distance.ts";
import type { AppId, UserId } from "../../../../src/model/ids.ts";
import { plainEvents } from "../../../reference/fence-events.ts";
import * as fc from "../../../support/fast-check.ts";
import { DEVICE, type WatchSet, watchSets } from "../../../support/geofences/random-watches.ts";
import { WatchedDevice } from "../../../support/geofences/watched-device.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

function byId(events: readonly WatchEvent[]): WatchEvent[] {
  return events.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The changes of the watches in the order of their times: what each is from then on. */
function changesOf(watches: readonly Watch[]): { readonly watch: Watch; readonly fromMs: number }[] {
  return watches
    .flatMap((watch) => {
      const { versions, deletedMs } = watch;
      const made = versions.map(({ fromMs }, index) => ({
        watch: { ...watch, versions: versions.slice(0, index + 1), deletedMs: null },
        fromMs,
      }));
      return deletedMs === null ? made : [...made, { watch, fromMs: deletedMs }];
    })
    .sort((a, b) => a.fromMs - b.fromMs);
}

/** Everything that happens to a device, in some order, with repetitions: what must be left is what the case has. */
function live({ watches, records, nowMs }: WatchSet, seed: number): WatchedDevice {
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const device = new WatchedDevice(DEVICE);
  const changes = changesOf(watches);
  const waiting = [...records];
  const strays: number[] = [];
  const startMs = records[0]?.timestampMs ?? 0;
  while (waiting.length > 0 || changes.length > 0) {
    if (changes.length > 0 && pick(4) === 0) {
      const { watch, fromMs } = changes.shift()!;
      device.change(watch, fromMs);
    }
    const batch = Array.from({ length: 1 + pick(6) }, () =>
      waiting.splice(pick(3) === 0 ? pick(waiting.length) : 0, 1),
    ).flat();
    if (pick(3) === 0) batch.push(records[pick(records.length)]!); // Comes again or early.
    device.report(batch);
    if (pick(4) === 0) {
      const stray = records[pick(records.length)]!;
      const timestampMs = stray.timestampMs + 1000 * (pick(7000) - 3500) + 1;
      strays.push(timestampMs);
      device.report([{ ...stray, timestampMs, latitude: pick(2) / 500 }]);
    }
    if (pick(4) === 0) device.remove(strays.splice(0));
    if (pick(3) === 0) device.advanceTo(Math.min(nowMs, startMs + pick(2 ** 28)));
    if (pick(2) === 0) device.decide();
  }
  device.remove(strays);
  device.decide();
  device.advanceTo(nowMs);
  device.decide();
  return device;
}

test("DeviceDecision leaves the same events, whenever records, corrections and changes of watches come", () => {
  fc.assert(
    fc.property(watchSets(250), fc.nat(), (set, seed) => {
      const { watches, records, nowMs } = set;
      const device = live(set, seed);
      const expected = watches.flatMap((watch) => decideEvents(watch, DEVICE, records, nowMs));
      expect(byId(device.events)).toEqual(byId(expected));
    }),
    { numRuns: 600 },
  );
});

test("DeviceDecision agrees with looking at all records of each stretch of time together", () => {
  fc.assert(
    fc.property(watchSets(40), fc.nat(), (set, seed) => {
      const { watches, hours, records, nowMs } = set;
      const expected = watches.flatMap((watch) => plainEvents(watch, hours, DEVICE, records, nowMs));
      expect(byId(live(set, seed).events)).toEqual(byId(expected));
    }),
    { numRuns: 400 },
  );
});

const CIRCLE: Watch = {
  appId: "app" as AppId,
  id: "depot",
  versions: [
    {
      number: 1,
      fromMs: 0,
      isActive: true,
      condition: {
        kind: "area",
        shape: createShape({ type: "Point", latitude: 0, longitude: 0, radiusMeters: 100 }),
        accuracyMetersMax: 200,
        exitBufferMeters: 20,
        dwellMs: null,
        silenceMs: null,
        initial: "none",
      },
      confirmations: 1,
      confirmMs: 0,
      schedule: null,
      devices: null,
      users: null,
    },
  ],
  deletedMs: null,
};

function recordAt(minute: number, meters: number): WatchedRecord {
  return {
    timestampMs: minute * 60_000,
    userId: "u1" as UserId,
    latitude: meters / haversineMeters(0, 0, 1, 0),
    longitude: 0,
    accuracyMeters: null,
    metersPerSecond: null,
    batteryPercent: null,
  };
}

test("DeviceDecision reads one record for each that comes in order, and a late one in proportion to how late it is", () => {
  const device = new WatchedDevice(DEVICE);
  device.change(CIRCLE, 0);
  const readsOf = (record: WatchedRecord) => {
    const before = device.readCount;
    device.report([record]);
    device.decide();
    return device.readCount - before;
  };
  for (let minute = 1; minute < 100; minute++) expect(readsOf(recordAt(minute, 900))).toBe(1);
  expect(device.hasState).toBe(false);
  expect(readsOf(recordAt(100, 0))).toBe(2); // It looks back once.
  for (let minute = 101; minute < 5000; minute++) expect(readsOf(recordAt(minute, 0))).toBe(1);
  expect(device.snapshotCount).toBeLessThan(40);
  for (const late of [1, 10, 100, 1000, 4000]) {
    const reads = readsOf(recordAt(4999.5 - late, 0));
    expect(reads).toBeGreaterThanOrEqual(late);
    expect(reads).toBeLessThan(1.5 * late + 80);
  }
  expect(readsOf(recordAt(5000, 900))).toBe(1);
  expect(
    device.events.map(({ kind, timestampMs, ending }) => [kind, timestampMs / 60_000, ending?.positions]),
  ).toEqual([
    ["enter", 100, undefined],
    ["exit", 5000, 4905],
  ]);
});

test("DeviceDecision knows where the device is inside", () => {
  const device = new WatchedDevice(DEVICE);
  device.change(CIRCLE, 0);
  for (const [minute, meters, inside] of [
    [1, 900, []],
    [2, 0, [{ watchId: "depot", enteredMs: 120_000 }]],
    [3, 900, []],
  ] as const) {
    device.report([recordAt(minute, meters)]);
    device.decide();
    expect(device.inside).toEqual(inside);
  }
});
