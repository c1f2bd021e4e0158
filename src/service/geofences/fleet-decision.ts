import { Decision } from "../../geofences/decision.ts";
import { undecidedFromMs } from "../../geofences/undecided.ts";
import type { Watch, WatchEvent } from "../../geofences/watch.ts";
import { createWatchState, type WatchState } from "../../geofences/watch-state.ts";
import { type Steps, sortInSteps } from "../../lib/schedule/steps.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";

/** Fixes in columns; those of a device in the order of their times. */
export interface Fixes {
  readonly count: number;
  readonly deviceIds: readonly DeviceId[];
  readonly userIds: readonly UserId[];
  readonly timestampMs: ArrayLike<number>;
  readonly latitude: ArrayLike<number>;
  readonly longitude: ArrayLike<number>;
  /** NaN if a fix has none. */
  readonly accuracyMeters: ArrayLike<number>;
  /** What alerts read, NaN as above; absent if only fences read these rows. */
  readonly metersPerSecond?: ArrayLike<number>;
  readonly batteryPercent?: ArrayLike<number>;
}

export interface FleetLimits {
  /** How many events may wait for the records that decide what came before them: some 40 MB. */
  readonly eventsMax: number;
  /** Each has some 400 bytes until the answer. */
  readonly devicesMax: number;
}

/** Records of a step, which takes some milliseconds for an area of 1,000 corners. */
const STEP_RECORDS = 32;

/** Devices that are looked at in a step, some tenths of a millisecond. */
const STEP_DEVICES = 2048;

interface FleetDevice {
  readonly decision: Decision;
  readonly state: WatchState;
}

/** Decides the events of all devices of an app for one watch. Records come in any order of devices, but in time. */
export class FleetDecision {
  readonly watch: Watch;
  readonly #limits: FleetLimits;
  readonly #devices = new Map<DeviceId, FleetDevice>();
  #events: WatchEvent[] = [];
  #isTooMuch = false;

  constructor(watch: Watch, limits: FleetLimits) {
    this.watch = watch;
    this.#limits = limits;
  }

  /** Takes records; those of a device in the order of their times. */
  *takeRows(rows: Fixes): Steps<void> {
    const { count, deviceIds, userIds, timestampMs, latitude, longitude, accuracyMeters } = rows;
    const { metersPerSecond, batteryPercent } = rows;
    for (let row = 0; row < count && !this.#isTooMuch; row++) {
      const record = {
        timestampMs: timestampMs[row]!,
        userId: userIds[row]!,
        latitude: latitude[row]!,
        longitude: longitude[row]!,
        accuracyMeters: orNull(accuracyMeters[row]),
        metersPerSecond: orNull(metersPerSecond?.[row]),
        batteryPercent: orNull(batteryPercent?.[row]),
      };
      this.#add(this.#deviceOf(deviceIds[row]!).decision.take(record));
      if (row % STEP_RECORDS === STEP_RECORDS - 1) yield;
    }
  }

  /** Whether there are more devices or events than this can hold; then the rest is missing. */
  get isTooMuch(): boolean {
    return this.#isTooMuch;
  }

  /**
   * The events that no record from this instant on changes, oldest first, and all of them before those of the next
   * call. All earlier records have been taken.
   */
  *settle(untilMs: number): Steps<readonly WatchEvent[]> {
    let endMs = untilMs;
    let count = 0;
    for (const { state } of this.#devices.values()) {
      endMs = Math.min(endMs, undecidedFromMs(this.watch, state));
      if (++count % STEP_DEVICES === 0) yield;
    }
    const settled = this.#events.filter(({ timestampMs }) => timestampMs < endMs);
    this.#events = this.#events.filter(({ timestampMs }) => timestampMs >= endMs);
    return yield* sortInSteps(settled, byTime);
  }

  /** The rest of the events, oldest first, with those that are due until `nowMs`. */
  *end(nowMs: number): Steps<readonly WatchEvent[]> {
    let count = 0;
    for (const { decision } of this.#devices.values()) {
      this.#add(decision.tail(nowMs));
      if (++count % STEP_RECORDS === 0) yield;
    }
    const due = this.#events.filter(({ dueMs }) => dueMs <= nowMs);
    return yield* sortInSteps(due, byTime);
  }

  #add(events: readonly WatchEvent[]): void {
    for (const event of events) this.#events.push(event);
    if (this.#events.length > this.#limits.eventsMax) this.#isTooMuch = true;
  }

  #deviceOf(deviceId: DeviceId): FleetDevice {
    const known = this.#devices.get(deviceId);
    if (known !== undefined) return known;
    const state = createWatchState();
    const device = { decision: new Decision(this.watch, deviceId, state), state };
    this.#devices.set(deviceId, device);
    if (this.#devices.size > this.#limits.devicesMax) this.#isTooMuch = true;
    return device;
  }
}

function orNull(value = Number.NaN): number | null {
  return Number.isNaN(value) ? null : value;
}

function byTime(a: WatchEvent, b: WatchEvent): number {
  return a.timestampMs - b.timestampMs || (a.id < b.id ? -1 : 1);
}
