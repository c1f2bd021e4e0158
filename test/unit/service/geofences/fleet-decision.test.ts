import { expect, test } from "bun:test";
import fc from "fast-check";
import { WEEKDAYS } from "../../../../src/geofences/schedule.ts";
import type { WatchEvent } from "../../../../src/geofences/watch.ts";
import { createWatchVersion } from "../../../../src/geofences/watch-version.ts";
import { inOneTurn } from "../../../../src/lib/schedule/steps.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { RULES_DEFAULTS } from "../../../../src/model/watches/watch-rules.ts";
import {
  type Fixes,
  FleetDecision,
  type FleetLimits,
} from "../../../../src/service/geofences/fleet-decision.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

const AREA = { type: "Point", latitude: 0, longitude: 0, radiusMeters: 100 } as const;
const VERSION = createWatchVersion({ kind: "fence", rules: RULES_DEFAULTS.fence, area: AREA }, 1, 0);
const WATCH = { appId: "app" as AppId, id: "depot", versions: [VERSION], deletedMs: null };

/** Each device goes in and out once: two events. */
function fixesOf(deviceCount: number): Fixes {
  const rows = Array.from({ length: 3 * deviceCount }, (_, row) => row);
  return {
    count: rows.length,
    deviceIds: rows.map((row) => `d${Math.floor(row / 3)}` as DeviceId),
    userIds: rows.map(() => "anna" as UserId),
    timestampMs: rows,
    latitude: rows.map((row) => (row % 3 === 1 ? 0 : 1)),
    longitude: rows.map(() => 0),
    accuracyMeters: rows.map(() => Number.NaN),
  };
}

function decided(deviceCount: number, limits: FleetLimits): readonly WatchEvent[] | null {
  const fleet = new FleetDecision(WATCH, limits);
  inOneTurn(fleet.takeRows(fixesOf(deviceCount)));
  const events = inOneTurn(fleet.end(1000));
  return fleet.isTooMuch ? null : events;
}

test("FleetDecision decides each device by itself, and orders the events by time", () => {
  const events = decided(2, { eventsMax: 4, devicesMax: 2 })!;
  expect(events.map(({ kind, deviceId, timestampMs }) => [kind, deviceId, timestampMs])).toEqual([
    ["enter", "d0", 1],
    ["exit", "d0", 2],
    ["enter", "d1", 4],
    ["exit", "d1", 5],
  ] as never);
});

test("FleetDecision has no answer if there are too many events or devices", () => {
  expect(decided(2, { eventsMax: 3, devicesMax: 2 })).toBeNull();
  expect(decided(2, { eventsMax: 4, devicesMax: 1 })).toBeNull();
});

const HOUR_MS = 3_600_000;

/** Rules whose events are decided by later records, or by their absence. */
const LATE_RULES = [
  {},
  { confirmations: 3, confirmSeconds: 600 },
  { dwellSeconds: 1800, initial: "event" as const },
  { silenceMinutes: 45, confirmations: 2 },
  {
    silenceMinutes: 45,
    schedule: { timezone: "UTC", weekly: [{ days: WEEKDAYS, from: "06:00", to: "18:00" }], except: [] },
  },
];

/** Two days of some devices that come and go, and are silent now and then. */
function journeys(random: () => number): Fixes {
  const rows = Array.from({ length: 5 }, (_, device) => {
    const own: { device: string; atMs: number; isInside: boolean }[] = [];
    let isInside = false;
    for (let atMs = 0; atMs < 48 * HOUR_MS; atMs += random() * (random() < 0.1 ? 3 : 0.4) * HOUR_MS) {
      if (random() < 0.3) isInside = !isInside;
      own.push({ device: `d${device}`, atMs: Math.round(atMs), isInside });
    }
    return own;
  }).flat();
  return {
    count: rows.length,
    deviceIds: rows.map(({ device }) => device as DeviceId),
    userIds: rows.map(() => "anna" as UserId),
    timestampMs: rows.map(({ atMs }) => atMs),
    latitude: rows.map(({ isInside }) => (isInside ? 0 : 1)),
    longitude: rows.map(() => 0),
    accuracyMeters: rows.map(() => Number.NaN),
  };
}

function within(fixes: Fixes, fromMs: number, toMs: number): Fixes {
  const isIn = (_: unknown, row: number) =>
    fixes.timestampMs[row]! >= fromMs && fixes.timestampMs[row]! < toMs;
  const column = <Value>(values: ArrayLike<Value>) => Array.from(values).filter(isIn);
  const deviceIds = column(fixes.deviceIds);
  return {
    ...{ count: deviceIds.length, deviceIds, userIds: column(fixes.userIds) },
    ...{ timestampMs: column(fixes.timestampMs), accuracyMeters: column(fixes.accuracyMeters) },
    ...{ latitude: column(fixes.latitude), longitude: column(fixes.longitude) },
  };
}

test("settle() gives the events in the order of all of them, each as soon as nothing can change it", () => {
  const limits = { eventsMax: 10_000, devicesMax: 100 };
  let early = 0;
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 12 }), (seed, windows) => {
      for (const changes of LATE_RULES) {
        const rules = { ...RULES_DEFAULTS.fence, ...changes } as typeof RULES_DEFAULTS.fence;
        const version = createWatchVersion({ kind: "fence", rules, area: AREA }, 1, 0);
        const watch = { ...WATCH, versions: [version] };
        const fixes = journeys(seededRandom(seed));
        const whole = new FleetDecision(watch, limits);
        inOneTurn(whole.takeRows(fixes));
        const all = inOneTurn(whole.end(48 * HOUR_MS));
        const stepwise = new FleetDecision(watch, limits);
        const settled: WatchEvent[] = [];
        const lengthMs = (48 * HOUR_MS) / windows;
        for (let window = 0; window < windows; window++) {
          const endMs = (window + 1) * lengthMs;
          inOneTurn(stepwise.takeRows(within(fixes, window * lengthMs, endMs)));
          settled.push(...inOneTurn(stepwise.settle(endMs)));
        }
        early += settled.length;
        const rest = inOneTurn(stepwise.end(48 * HOUR_MS));
        expect([...settled, ...rest]).toEqual([...all]);
      }
    }),
    { numRuns: 30, examples: [[-1, 1]] },
  );
  expect(early).toBeGreaterThan(1000);
});

test("FleetDecision takes a few hundred records a step", () => {
  const fleet = new FleetDecision(WATCH, { eventsMax: 9999, devicesMax: 9999 });
  const steps = [...fleet.takeRows(fixesOf(1000))].length;
  expect(steps).toBeGreaterThan(10);
});
