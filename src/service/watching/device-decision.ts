import { Decision, versionAt } from "../../geofences/decision.ts";
import { judge } from "../../geofences/judge.ts";
import type { DecidedEvent, Watch, WatchedRecord } from "../../geofences/watch.ts";
import { copyWatchState, createWatchState, type WatchState } from "../../geofences/watch-state.ts";
import type { DeviceId } from "../../model/ids.ts";
import {
  type DecisionStart,
  type DeviceSnapshot,
  type DeviceState,
  SNAPSHOT_RECORDS,
  superfluous,
} from "./snapshots.ts";

/** The fences and alerts of an app. */
export interface AppWatches {
  find(id: string): Watch | null;
  /** Calls `visit` with each fence that a position may be inside of, perhaps twice. */
  visitFences(latitude: number, longitude: number, visit: (watch: Watch) => void): void;
  readonly alerts: readonly Watch[];
}

/** The device is inside a fence, or an alert has started. */
export interface Stay {
  readonly watchId: string;
  /** Null if no event began it. */
  readonly enteredMs: number | null;
}

/** What follows from the records of a device. */
export interface DecidedDevice {
  readonly state: DeviceState;
  /** Those after the snapshot that it began from, oldest first. */
  readonly snapshots: readonly DeviceSnapshot[];
  /** The events that records after that snapshot decided, or the clock; all that exist by now. */
  readonly events: readonly DecidedEvent[];
  /** Where the device is inside by now. */
  readonly inside: readonly Stay[];
  /** When the clock of timed events makes the next one; null if it never does. */
  readonly dueMs: number | null;
}

/**
 * Decides what a device's records after a snapshot make of the fences and alerts of its app. A device is near few of
 * them, so only these have states: of the others it is outside, or nothing is known, which follows from its last
 * records.
 */
export class DeviceDecision {
  readonly #deviceId: DeviceId;
  readonly #watches: AppWatches;
  readonly #near = new Map<string, Near>();
  /** States that were found in records before, and are needed for the next record. */
  readonly #past = new Map<string, WatchState>();
  readonly #events: DecidedEvent[];
  #enteredBy: WatchedRecord | null = null;
  #enteredFences: readonly Watch[] = [];
  /** How many events were decided before. */
  readonly #begunCount: number;
  readonly #neededMs: number;
  #snapshots: DeviceSnapshot[] = [];
  #sinceMs: number;
  #asOfMs: number;
  #number: number;
  #recordCount: number;

  /** `pending` are the device's. Records that are older than `neededMs` will not change. */
  constructor(
    deviceId: DeviceId,
    watches: AppWatches,
    from: DecisionStart,
    pending: readonly DecidedEvent[],
    neededMs: number,
  ) {
    this.#deviceId = deviceId;
    this.#watches = watches;
    this.#sinceMs = from.sinceMs;
    this.#asOfMs = from.asOfMs;
    this.#number = from.number;
    this.#recordCount = from.recordCount;
    this.#neededMs = neededMs;
    this.#events = pending.filter(({ decidedMs }) => decidedMs <= from.asOfMs);
    this.#begunCount = this.#events.length;
    for (const [id, state] of from.states) {
      const watch = watches.find(id);
      if (watch !== null && isKnownAt(watch, state)) this.#addNear(watch, copyWatchState(state));
    }
  }

  /** The time of the last record that was taken. */
  get asOfMs(): number {
    return this.#asOfMs;
  }

  /** Events that it has decided by now. */
  get eventCount(): number {
    return this.#events.length - this.#begunCount;
  }

  /** A fence whose state must be found in earlier records before this one is taken; null if there is none. */
  needsPast(record: WatchedRecord): Watch | null {
    return this.#entered(record).find(({ id }) => !this.#past.has(id)) ?? null;
  }

  /** Sets the state of such a fence before the next record. */
  setPast(watch: Watch, state: WatchState): void {
    this.#past.set(watch.id, state);
  }

  /** Takes the next record. */
  take(record: WatchedRecord): void {
    const { timestampMs } = record;
    const wasFar = this.#near.size === 0;
    for (const watch of this.#entered(record))
      this.#addNear(watch, this.#past.get(watch.id) ?? createWatchState());
    if (this.#past.size > 0) this.#past.clear();
    for (const alert of this.#watches.alerts) {
      if (this.#near.has(alert.id) || !this.#concerns(alert, record)) continue;
      this.#addNear(alert, createWatchState());
    }
    if (this.#near.size > 0) {
      if (wasFar) this.#addSnapshot(new Map());
      this.#takeNear(record);
    }
    this.#asOfMs = timestampMs;
  }

  /** The fences without a state that a record is inside of. */
  #entered(record: WatchedRecord): readonly Watch[] {
    if (this.#enteredBy === record) return this.#enteredFences;
    const fences: Watch[] = [];
    this.#watches.visitFences(record.latitude, record.longitude, (watch) => {
      if (this.#near.has(watch.id) || fences.includes(watch)) return;
      if (this.#isInside(watch, record)) fences.push(watch);
    });
    [this.#enteredBy, this.#enteredFences] = [record, fences];
    return fences;
  }

  #takeNear(record: WatchedRecord): void {
    const { timestampMs } = record;
    for (const [id, { watch, decision, state }] of this.#near) {
      for (const event of decision.take(record)) this.#events.push({ event, decidedMs: timestampMs });
      if (followsFromRecords(watch, state)) this.#near.delete(id);
    }
    this.#sinceMs = timestampMs;
    this.#asOfMs = timestampMs;
    if (++this.#recordCount >= SNAPSHOT_RECORDS) this.#addSnapshot(this.#states());
  }

  /**
   * What follows from the records that were taken and from the clock of timed events. That makes none yet if more
   * records are still to be taken (`isWhole` is false).
   */
  end(nowMs: number, isWhole: boolean): DecidedDevice {
    const decided = this.#events.filter(({ event }) => event.dueMs <= nowMs);
    const pending = this.#events.filter(({ event }) => event.dueMs > nowMs);
    const inside: Stay[] = [];
    let dueMs = Math.min(Infinity, ...pending.map(({ event }) => event.dueMs));
    for (const [id, { watch, decision, state }] of this.#near) {
      const tail = isWhole ? decision.tail(nowMs) : [];
      const nextMs = isWhole ? decision.dueAfterMs(nowMs) : Infinity;
      dueMs = Math.min(dueMs, nextMs);
      const isOver =
        isWhole && watch.deletedMs !== null && watch.deletedMs <= this.#asOfMs && nextMs === Infinity;
      if (isOver) this.#near.delete(id);
      for (const event of tail) decided.push({ event, decidedMs: isOver ? this.#asOfMs : Infinity });
      if (state.visit !== null && !tail.some(({ ending }) => ending !== null))
        inside.push({ watchId: id, enteredMs: state.visit.isEntryKnown ? state.visit.startMs : null });
    }
    // The last snapshot must not have states that are over by now: their events count as decided.
    const snapshots = this.#snapshots.map((snapshot) =>
      snapshot.asOfMs === this.#asOfMs ? { ...snapshot, states: this.#states() } : snapshot,
    );
    const state = {
      sinceMs: this.#sinceMs,
      asOfMs: this.#asOfMs,
      number: this.#number,
      recordCount: this.#recordCount,
      states: this.#states(),
      pending,
    };
    return {
      state,
      snapshots,
      events: decided,
      inside,
      dueMs: dueMs === Infinity ? null : dueMs,
    };
  }

  #addNear(watch: Watch, state: WatchState): void {
    this.#near.set(watch.id, { watch, state, decision: new Decision(watch, this.#deviceId, state) });
  }

  #isInside(watch: Watch, record: WatchedRecord): boolean {
    const version = versionAt(watch, record.timestampMs);
    return version !== null && judge(version, this.#deviceId, record) === "inside";
  }

  /** Whether the state for an alert must be known after a record. */
  #concerns(alert: Watch, record: WatchedRecord): boolean {
    if (!isAboutSilence(alert)) return this.#isInside(alert, record);
    const version = versionAt(alert, record.timestampMs);
    return version !== null && judge(version, this.#deviceId, record) !== "ignored";
  }

  #states(): Map<string, WatchState> {
    return new Map(Array.from(this.#near, ([id, { state }]) => [id, copyWatchState(state)]));
  }

  #addSnapshot(states: ReadonlyMap<string, WatchState>): void {
    const [sinceMs, asOfMs] = [this.#sinceMs, this.#asOfMs];
    this.#snapshots.push({ sinceMs, asOfMs, number: ++this.#number, states });
    this.#recordCount = 0;
    const gone = new Set(superfluous(this.#snapshots, this.#neededMs));
    if (gone.size > 0) this.#snapshots = this.#snapshots.filter((snapshot) => !gone.has(snapshot));
  }
}

interface Near {
  readonly watch: Watch;
  readonly state: WatchState;
  readonly decision: Decision;
}

/** Whether the version that the state needs is still known; retention forgets those that no record needs. */
function isKnownAt({ versions }: Watch, { last }: WatchState): boolean {
  return last === null || last.timestampMs >= versions[0]!.fromMs;
}

function isAboutSilence({ versions }: Watch): boolean {
  return versions[0]!.condition.kind === "silent_for";
}

/** Whether a state need not be stored, since `findPastState` finds what it means for later records. */
function followsFromRecords(watch: Watch, { place, last, run, visit }: WatchState): boolean {
  if (isAboutSilence(watch)) return last === null;
  return place !== "inside" && visit === null && run?.toward !== "inside";
}
