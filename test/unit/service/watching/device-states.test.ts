import { expect, test } from "bun:test";
import { createWatchState } from "../../../../src/geofences/watch-state.ts";
import { inOneTurn } from "../../../../src/lib/schedule/steps.ts";
import type { DeviceId, UserId } from "../../../../src/model/ids.ts";
import type { DecidedDevice } from "../../../../src/service/watching/device-decision.ts";
import { DeviceStates } from "../../../../src/service/watching/device-states.ts";
import { eraseEvents } from "../../../../src/service/watching/remove-events.ts";
import { startBefore } from "../../../../src/service/watching/snapshots.ts";
import { APP, openEvents } from "../../../support/geofences/test-events.ts";

const DEVICE = "d1" as DeviceId;
const OLD_MS = Number.NEGATIVE_INFINITY;

function createStates() {
  const events = openEvents();
  const states = new DeviceStates(events.database);
  /** What is decided of one record at this instant: the device is inside of the fence, or of none. */
  const decide = (atMs: number, isInside: boolean, dueMs: number | null = null) => {
    const start = startBefore(atMs, states.find(APP, DEVICE), states.snapshots(APP, DEVICE), OLD_MS);
    const moment = { timestampMs: atMs, userId: "u1" as never };
    const near = new Map(isInside ? [["depot", { ...createWatchState(), last: moment }]] : []);
    const wasFar = start.states.size === 0 && isInside;
    const number = start.number + (wasFar ? 1 : 0);
    const decided: DecidedDevice = {
      state: {
        sinceMs: atMs,
        asOfMs: atMs,
        number,
        recordCount: start.recordCount + 1,
        states: near,
        pending: [],
      },
      snapshots: wasFar ? [{ sinceMs: start.sinceMs, asOfMs: start.asOfMs, number, states: new Map() }] : [],
      events: [],
      inside: isInside ? [{ watchId: "depot", enteredMs: 5 }] : [],
      dueMs,
    };
    events.transact(() => states.write(APP, DEVICE, start, decided, OLD_MS));
    return decided.state;
  };
  return { events, states, decide };
}

test("DeviceStates has what was written last, earlier states, and who is inside", () => {
  const { states, decide } = createStates();
  expect(states.find(APP, DEVICE)).toBeNull();
  const state = decide(10, true, 70);
  expect(states.find(APP, DEVICE)).toEqual(state);
  expect(states.snapshots(APP, DEVICE)).toEqual([
    { sinceMs: Number.NEGATIVE_INFINITY, asOfMs: 9, number: 1, states: new Map() },
  ]);
  expect(states.near(APP, "depot", "", 10)).toEqual([DEVICE]);
  expect(states.inside(APP, "depot", 0, 10)).toEqual([{ deviceId: DEVICE, enteredMs: 5 }]);
  expect(states.inside(APP, "depot", 1, 10)).toEqual([]);
  expect(states.due(69, 10)).toEqual([]);
  expect(states.due(70, 10)).toMatchObject([{ appId: APP, deviceId: DEVICE }]);
  decide(20, false);
  expect(states.inside(APP, "depot", 0, 10)).toEqual([]);
  expect(states.near(APP, "depot", "", 10)).toEqual([]);
  expect(states.find(APP, DEVICE)).toMatchObject({ asOfMs: 20, states: new Map() });
});

test("DeviceStates.write() replaces what came after its start, and forgets a device that was never near", () => {
  const { states, decide } = createStates();
  for (const atMs of [10, 20, 30]) decide(atMs, true);
  decide(5, false);
  expect(states.find(APP, DEVICE)).toBeNull();
  expect(states.snapshots(APP, DEVICE)).toEqual([]);
});

test("DeviceStates keeps the earliest mark of a device", () => {
  const { events, states } = createStates();
  for (const fromMs of [50, Number.NEGATIVE_INFINITY, 70])
    events.transact(() => states.keepMark({ appId: APP, deviceId: DEVICE, fromMs }));
  expect(states.marks(10)).toEqual([{ appId: APP, deviceId: DEVICE, fromMs: Number.NEGATIVE_INFINITY }]);
  events.transact(() => states.dropMark(APP, DEVICE, 80, Infinity));
  expect(states.marks(10)).toHaveLength(1);
  events.transact(() => states.dropMark(APP, DEVICE, Number.NEGATIVE_INFINITY, 90));
  expect(states.marks(10)).toMatchObject([{ fromMs: 90 }]);
  events.transact(() => states.dropMark(APP, DEVICE, 90, Infinity));
  expect(states.marks(10)).toEqual([]);
});

test("an erasure of a user takes all states of devices that name the user, and no others", () => {
  const { events, states, decide } = createStates();
  decide(10, true);
  const erase = (userId: string) => {
    const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
    const subject = { appId: APP, deviceIds: [], userId: userId as UserId, range };
    inOneTurn(
      eraseEvents(events, {
        ...subject,
        ...{ id: "e", block: false, createdMs: 0, createdBy: "k", continues: false },
      }),
    );
    return states.find(APP, DEVICE);
  };
  expect(erase("u")).not.toBeNull();
  expect(erase("u1")).toBeNull();
  expect(states.near(APP, "depot", "", 10)).toEqual([]);
});
