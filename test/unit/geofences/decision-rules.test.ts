import { expect, test } from "bun:test";
import { decideEvents } from "../../../src/geofences/decision.ts";
import { createShape } from "../../../src/geofences/shape.ts";
import type {
  AreaCondition,
  Condition,
  Watch,
  WatchedRecord,
  WatchVersion,
} from "../../../src/geofences/watch.ts";
import { haversineMeters } from "../../../src/model/geo/distance.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import { createSchedule } from "../../support/geofences/random-watches.ts";

const MINUTE_MS = 60_000;
/** A Tuesday, at midnight. */
const START_MS = Date.UTC(2026, 5, 2);
const FOREVER = 100_000;

const AREA: AreaCondition = {
  kind: "area",
  shape: createShape({ type: "Point", latitude: 0, longitude: 0, radiusMeters: 100 }),
  accuracyMetersMax: 200,
  exitBufferMeters: 20,
  dwellMs: null,
  silenceMs: null,
  initial: "none",
};

const RULES = { isActive: true, confirmations: 1, confirmMs: 0, schedule: null, devices: null, users: null };

/** Versions from these minutes on; null is the deletion. */
function watchOf(
  ...changes: readonly (readonly [
    minute: number,
    condition: Condition | null,
    rules?: Partial<WatchVersion>,
  ])[]
): Watch {
  const versions = changes.flatMap(([minute, condition, rules], index): WatchVersion[] =>
    condition === null
      ? []
      : [{ number: index + 1, fromMs: START_MS + minute * MINUTE_MS, condition, ...RULES, ...rules }],
  );
  const deletion = changes.find(([, condition]) => condition === null);
  const deletedMs = deletion === undefined ? null : START_MS + deletion[0] * MINUTE_MS;
  return { appId: "app" as AppId, id: "depot", versions, deletedMs };
}

type Stop = readonly [minute: number, meters: number, members?: Partial<WatchedRecord>];

function recordOf([minute, meters, members]: Stop): WatchedRecord {
  return {
    timestampMs: START_MS + minute * MINUTE_MS,
    userId: "anna" as UserId,
    latitude: meters / haversineMeters(0, 0, 1, 0),
    longitude: 0,
    accuracyMeters: null,
    metersPerSecond: null,
    batteryPercent: null,
    ...members,
  };
}

/** Each event as text: its kind, its minute, and the reason of an end. */
function decided(watch: Watch, stops: readonly Stop[], nowMinute = FOREVER): string[] {
  const nowMs = START_MS + nowMinute * MINUTE_MS;
  return decideEvents(watch, "bus" as DeviceId, stops.map(recordOf), nowMs).map(
    ({ kind, timestampMs, ending }) =>
      [kind, (timestampMs - START_MS) / MINUTE_MS, ...(ending === null ? [] : [ending.reason])].join(" "),
  );
}

const OUT = 300;
const IN = 0;

test("decideEvents(): a device that was outside enters and leaves; its visit has an id, a beginning and positions", () => {
  const watch = watchOf([0, AREA]);
  const records = (
    [
      [0, OUT],
      [1, IN],
      [2, IN],
      [3, OUT],
    ] as const
  ).map(recordOf);
  const [enter, exit] = decideEvents(watch, "bus" as DeviceId, records, 0);
  expect(enter).toEqual({
    id: "01KT2T4CK0BKG36VJBADVFG3C6",
    kind: "enter",
    timestampMs: START_MS + MINUTE_MS,
    deviceId: "bus" as DeviceId,
    userId: "anna" as UserId,
    watchId: "depot",
    version: 1,
    visitId: "01KT2T4CK0CJ494MV86VVH0PPH",
    ending: null,
    dueMs: 0,
  });
  expect(exit).toMatchObject({
    kind: "exit",
    visitId: enter!.visitId,
    ending: { reason: "moved", enteredMs: START_MS + MINUTE_MS, positions: 2 },
  });
});

test("decideEvents(): a fix is inside by half its accuracy, which counts to half the radius; outside by all of it and the buffer", () => {
  const watch = watchOf([0, AREA]);
  const exact = [
    [0, OUT],
    [1, 100],
    [2, 119],
    [3, 121],
  ] as const;
  expect(decided(watch, exact)).toEqual(["enter 1", "exit 3 moved"]);
  const vague = (meters: number, accuracyMeters: number) =>
    decided(watch, [
      [0, OUT],
      [1, meters, { accuracyMeters }],
    ]).length === 1;
  expect([vague(79, 40), vague(81, 40), vague(74, 150), vague(76, 150)]).toEqual([true, false, true, false]);
  const leaves = (meters: number, accuracyMeters: number) =>
    decided(watch, [
      [0, OUT],
      [1, IN],
      [2, meters, { accuracyMeters }],
    ]).length === 2;
  expect([leaves(159, 40), leaves(161, 40), leaves(1000, 201)]).toEqual([false, true, false]);
});

test("decideEvents(): the first state is no event unless `initial` says so; an exit without entry has no beginning", () => {
  const stops = [
    [0, IN],
    [1, OUT],
  ] as const;
  expect(decided(watchOf([0, AREA]), stops)).toEqual(["exit 1 moved"]);
  const [exit] = decideEvents(watchOf([0, AREA]), "bus" as DeviceId, stops.map(recordOf), 0);
  expect(exit!.ending).toEqual({ reason: "moved", enteredMs: null, positions: 1 });
  expect(decided(watchOf([0, { ...AREA, initial: "event" }]), stops)).toEqual(["enter 0", "exit 1 moved"]);
});

test("decideEvents(): a change needs records in a row over a time, and happens at the first; undecided ones don't break it", () => {
  const watch = watchOf([0, AREA, { confirmations: 2, confirmMs: 2 * MINUTE_MS }]);
  const first = [
    [0, OUT],
    [3, OUT],
  ] as const;
  expect(decided(watch, [...first, [4, IN], [5, IN]])).toEqual([]);
  expect(decided(watch, [...first, [4, IN], [5, IN], [6, IN]])).toEqual(["enter 4"]);
  expect(decided(watch, [...first, [4, IN], [5, 110], [6, IN]])).toEqual(["enter 4"]);
  expect(decided(watch, [...first, [4, IN], [5, OUT], [6, IN]])).toEqual([]);
});

test("decideEvents(): a visit dwells once, at the first fix inside that is late enough", () => {
  const watch = watchOf([0, { ...AREA, dwellMs: 5 * MINUTE_MS }]);
  expect(
    decided(watch, [
      [0, OUT],
      [1, IN],
      [5, IN],
      [7, 110],
      [8, IN],
      [20, IN],
    ]),
  ).toEqual(["enter 1", "dwell 8"]);
  const confirmed = watchOf([0, { ...AREA, dwellMs: 5 * MINUTE_MS }, { confirmMs: 20 * MINUTE_MS }]);
  expect(
    decided(confirmed, [
      [0, OUT],
      [20, OUT],
      [21, IN],
      [30, IN],
      [41, IN],
    ]),
  ).toEqual(["enter 21", "dwell 30"]);
});

test("decideEvents(): a device that falls silent inside leaves, until a fix shows that it stayed or moved", () => {
  const watch = watchOf([0, { ...AREA, silenceMs: 30 * MINUTE_MS }]);
  const stops: Stop[] = [
    [0, OUT],
    [1, IN],
    [2, IN],
  ];
  expect(decided(watch, stops, 31)).toEqual(["enter 1"]);
  expect(decided(watch, stops, 32)).toEqual(["enter 1", "exit 32 silent"]);
  expect(decided(watch, [...stops, [31, 110]], 60)).toEqual(["enter 1"]);
  expect(decided(watch, [...stops, [40, 110]], 40)).toEqual(["enter 1", "exit 32 silent"]);
  expect(decided(watch, [...stops, [40, IN]], 40)).toEqual(["enter 1"]);
  expect(decided(watch, [...stops, [40, OUT]], 40)).toEqual(["enter 1", "exit 40 moved"]);
});

test("decideEvents(): a schedule forgets the state, and ends visits when it closes", () => {
  const weekly = [{ days: [1, 2], from: "08:00", to: "18:00" }];
  const schedule = createSchedule({ timezone: "UTC", weekly, except: [] });
  const watch = watchOf([0, AREA, { schedule }]);
  const stops: Stop[] = [
    [420, OUT],
    [480, OUT],
    [490, IN],
    [1100, OUT],
    [1930, IN],
    [1940, OUT],
  ];
  expect(decided(watch, stops)).toEqual(["enter 490", "exit 1080 schedule", "exit 1940 moved"]);
  expect(decided(watch, stops.slice(0, 3), 1079)).toEqual(["enter 490"]);
});

test("decideEvents(): another version keeps the state, unless the last fix is not inside its area", () => {
  const larger = {
    ...AREA,
    shape: createShape({ type: "Point", latitude: 0, longitude: 0, radiusMeters: 200 }),
  };
  const stops: Stop[] = [
    [0, OUT],
    [1, 150],
    [3, 150],
  ];
  expect(decided(watchOf([0, larger], [2, AREA]), stops)).toEqual(["enter 1", "exit 2 changed"]);
  expect(decided(watchOf([0, larger], [2, { ...larger, dwellMs: 0 }]), stops)).toEqual([
    "enter 1",
    "dwell 3",
  ]);
  expect(decided(watchOf([0, AREA], [2, larger]), stops)).toEqual(["enter 3"]);
  expect(decided(watchOf([0, larger], [2, larger, { isActive: false }]), stops)).toEqual([
    "enter 1",
    "exit 2 changed",
  ]);
  expect(decided(watchOf([0, larger], [2, null]), stops)).toEqual(["enter 1", "exit 2 deleted"]);
  expect(decided(watchOf([2, larger]), stops)).toEqual([]);
});

test("decideEvents(): only records of chosen devices and users count", () => {
  const stops: Stop[] = [
    [0, OUT],
    [1, IN, { userId: "ben" as UserId }],
    [2, IN],
  ];
  expect(decided(watchOf([0, AREA, { users: new Set(["anna" as UserId]) }]), stops)).toEqual(["enter 2"]);
  expect(decided(watchOf([0, AREA, { devices: new Set(["car" as DeviceId]) }]), stops)).toEqual([]);
});

test("decideEvents(): speed alerts need their time; charge alerts come again only after it rose by 5", () => {
  const fast = watchOf([0, { kind: "speed_above", metersPerSecond: 20 }, { confirmMs: MINUTE_MS }]);
  const speeds = [21, 20, 25, null, 30, 10, 10].map(
    (metersPerSecond, minute): Stop => [minute, IN, { metersPerSecond }],
  );
  expect(decided(fast, speeds)).toEqual(["alert_start 2", "alert_end 5 moved"]);
  const low = watchOf([0, { kind: "battery_below", percent: 20 }]);
  const charges = [19, 21, 18, 24, 25, 20, 19].map(
    (batteryPercent, minute): Stop => [minute, IN, { batteryPercent }],
  );
  expect(decided(low, charges)).toEqual(["alert_start 0", "alert_end 4 moved", "alert_start 6"]);
});

test("decideEvents(): silence alerts follow the clock; while the schedule is closed, silence does not count", () => {
  const watch = watchOf([0, { kind: "silent_for", silenceMs: 30 * MINUTE_MS }]);
  expect(decided(watch, [[0, IN]], 29)).toEqual([]);
  expect(decided(watch, [[0, IN]], 30)).toEqual(["alert_start 30"]);
  expect(
    decided(
      watch,
      [
        [0, IN],
        [30, IN],
        [70, IN],
      ],
      59,
    ),
  ).toEqual([]);
  expect(
    decided(
      watch,
      [
        [0, IN],
        [30, IN],
        [70, IN],
      ],
      60,
    ),
  ).toEqual(["alert_start 60", "alert_end 70 moved"]);
  const schedule = createSchedule({
    timezone: "UTC",
    weekly: [{ days: [1, 2], from: "08:00", to: "18:00" }],
    except: [],
  });
  const daily = watchOf([0, { kind: "silent_for", silenceMs: 30 * MINUTE_MS }, { schedule }]);
  expect(decided(daily, [[1070, IN]])).toEqual(["alert_start 1950", "alert_end 2520 schedule"]);
});
