import { expect, test } from "bun:test";
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
  return inOneTurn(fleet.end(1000));
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

test("FleetDecision takes a few hundred records a step", () => {
  const fleet = new FleetDecision(WATCH, { eventsMax: 9999, devicesMax: 9999 });
  const steps = [...fleet.takeRows(fixesOf(1000))].length;
  expect(steps).toBeGreaterThan(10);
});
