import { Decision } from "../../geofences/decision.ts";
import type { Watch, WatchEvent } from "../../geofences/watch.ts";
import { createWatchState } from "../../geofences/watch-state.ts";
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
}

export interface FleetLimits {
  /** Some 40 MB. */
  readonly eventsMax: number;
  /** Each has some 400 bytes until the answer. */
  readonly devicesMax: number;
}

/** Records of a step, which takes some milliseconds for an area of 1,000 corners. */
const STEP_RECORDS = 32;

/** Decides the events of all devices of an app for one watch. */
export class FleetDecision {
  readonly watch: Watch;
  readonly #limits: FleetLimits;
  readonly #decisions = new Map<DeviceId, Decision>();
  readonly #events: WatchEvent[] = [];
  #isTooMuch = false;

  constructor(watch: Watch, limits: FleetLimits) {
    this.watch = watch;
    this.#limits = limits;
  }

  /** Takes records; those of a device in the order of their times. */
  *takeRows(rows: Fixes): Steps<void> {
    const { count, deviceIds, userIds, timestampMs, latitude, longitude, accuracyMeters } = rows;
    for (let row = 0; row < count && !this.#isTooMuch; row++) {
      const accuracy = accuracyMeters[row]!;
      const record = {
        timestampMs: timestampMs[row]!,
        userId: userIds[row]!,
        latitude: latitude[row]!,
        longitude: longitude[row]!,
        accuracyMeters: Number.isNaN(accuracy) ? null : accuracy,
        metersPerSecond: null,
        batteryPercent: null,
      };
      this.#add(this.#decisionOf(deviceIds[row]!).take(record));
      if (row % STEP_RECORDS === STEP_RECORDS - 1) yield;
    }
  }

  /** All events, oldest first; null if there are too many. */
  *end(nowMs: number): Steps<readonly WatchEvent[] | null> {
    let count = 0;
    for (const decision of this.#decisions.values()) {
      this.#add(decision.tail(nowMs));
      if (++count % STEP_RECORDS === 0) yield;
    }
    if (this.#isTooMuch) return null;
    const due = this.#events.filter(({ dueMs }) => dueMs <= nowMs);
    return yield* sortInSteps(due, (a, b) => a.timestampMs - b.timestampMs || (a.id < b.id ? -1 : 1));
  }

  #add(events: readonly WatchEvent[]): void {
    for (const event of events) this.#events.push(event);
    if (this.#events.length > this.#limits.eventsMax) this.#isTooMuch = true;
  }

  #decisionOf(deviceId: DeviceId): Decision {
    const known = this.#decisions.get(deviceId);
    if (known !== undefined) return known;
    const decision = new Decision(this.watch, deviceId, createWatchState());
    this.#decisions.set(deviceId, decision);
    if (this.#decisions.size > this.#limits.devicesMax) this.#isTooMuch = true;
    return decision;
  }
}
