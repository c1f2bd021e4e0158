import type { EventRevision } from "../../../src/geofences/revisions.ts";
import type { DecidedEvent, Watch, WatchEvent, WatchedRecord } from "../../../src/geofences/watch.ts";
import { inOneTurn } from "../../../src/lib/schedule/steps.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import {
  type AppWatches,
  type DecidedDevice,
  DeviceDecision,
} from "../../../src/service/watching/device-decision.ts";
import { findPastState } from "../../../src/service/watching/past-state.ts";
import { planEvents } from "../../../src/service/watching/plan-events.ts";
import {
  type DecisionStart,
  type DeviceSnapshot,
  type DeviceState,
  startBefore,
  superfluous,
} from "../../../src/service/watching/snapshots.ts";

interface Stored extends EventRevision, DecidedEvent {}

/** One device with what is stored of it, in plain lists. Changes are noted, and decided later. */
export class WatchedDevice {
  readonly #deviceId: DeviceId;
  readonly #watches = new Map<string, Watch>();
  /** In the order of their times. */
  readonly #records: WatchedRecord[] = [];
  readonly #stored = new Map<string, Stored>();
  #state: DeviceState | null = null;
  #snapshots: DeviceSnapshot[] = [];
  #last: DecidedDevice | null = null;
  #changedMs = Infinity;
  #nowMs = 0;
  /** Records that were read. */
  readCount = 0;

  constructor(deviceId: DeviceId) {
    this.#deviceId = deviceId;
  }

  /** Those that are not withdrawn. */
  get events(): WatchEvent[] {
    return [...this.#stored.values()].filter(({ isWithdrawn }) => !isWithdrawn).map(({ event }) => event);
  }

  get hasState(): boolean {
    return this.#state !== null;
  }

  get snapshotCount(): number {
    return this.#snapshots.length;
  }

  get inside(): DecidedDevice["inside"] {
    return this.#last?.inside ?? [];
  }

  report(records: readonly WatchedRecord[]): void {
    for (const record of records) {
      const index = this.#indexAfter(record.timestampMs - 1);
      const isKnown = this.#records[index]?.timestampMs === record.timestampMs;
      this.#records.splice(index, isKnown ? 1 : 0, record);
      this.#note(record.timestampMs);
    }
  }

  remove(timesMs: readonly number[]): void {
    for (const timestampMs of timesMs) {
      const index = this.#indexAfter(timestampMs - 1);
      if (this.#records[index]?.timestampMs !== timestampMs) continue;
      this.#records.splice(index, 1);
      this.#note(timestampMs);
    }
  }

  /** Sets a version of a watch that is in force from this time on, or its deletion. */
  change(watch: Watch, fromMs: number): void {
    this.#watches.set(watch.id, watch);
    const hasState = this.#state?.states.has(watch.id) === true;
    if (hasState || (this.#records.at(-1)?.timestampMs ?? 0) >= fromMs) this.#note(fromMs);
  }

  advanceTo(nowMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, nowMs);
    if ((this.#last?.dueMs ?? Infinity) <= nowMs) this.#note(this.#state!.asOfMs + 1);
  }

  /** Decides what the changes make. */
  decide(): void {
    if (this.#changedMs === Infinity) return;
    const from = startBefore(this.#changedMs, this.#state, this.#snapshots, NOTHING_IS_OLD);
    this.#changedMs = Infinity;
    const decision = new DeviceDecision(
      this.#deviceId,
      this.#appWatches(),
      from,
      this.#state?.pending ?? [],
      NOTHING_IS_OLD,
    );
    for (let index = this.#indexAfter(from.asOfMs); index < this.#records.length; index++) {
      const record = this.#records[index]!;
      this.readCount++;
      for (let watch = decision.needsPast(record); watch !== null; watch = decision.needsPast(record))
        decision.setPast(watch, this.#pastState(watch, index));
      decision.take(record);
    }
    this.#store(from, decision.end(this.#nowMs, true));
  }

  #pastState(watch: Watch, index: number) {
    for (let count = 1; ; count *= 2) {
      const records = this.#records.slice(Math.max(0, index - count), index);
      this.readCount += records.length;
      const state = inOneTurn(findPastState(watch, this.#deviceId, records, count >= index));
      if (state !== null) return state;
    }
  }

  #store(from: DecisionStart, decided: DecidedDevice): void {
    const { state, snapshots, events } = decided;
    const former = [...this.#stored.values()].filter(
      ({ isWithdrawn, decidedMs }) => !isWithdrawn && decidedMs > from.asOfMs,
    );
    const plan = planEvents(former, events, (id) => this.#stored.get(id) ?? null);
    for (const revision of plan.revisions) {
      const before = this.#stored.get(revision.event.id);
      if (revision.revision !== (before?.revision ?? 0) + 1) throw new Error("revisions count");
      if (revision.isWithdrawn && before?.isWithdrawn !== false) throw new Error("nothing to withdraw");
      this.#stored.set(revision.event.id, revision);
    }
    for (const { event, decidedMs } of plan.moved)
      this.#stored.set(event.id, { ...this.#stored.get(event.id)!, decidedMs });
    const times = new Set(snapshots.map(({ asOfMs }) => asOfMs));
    const before = this.#snapshots.filter(({ asOfMs }) => asOfMs <= from.asOfMs && !times.has(asOfMs));
    const all = [...before, ...snapshots];
    const gone = new Set(superfluous(all, NOTHING_IS_OLD));
    this.#snapshots = all.filter((snapshot) => !gone.has(snapshot));
    const isNeeded = state.states.size + state.pending.length + this.#snapshots.length > 0;
    this.#state = isNeeded ? asStored(state) : null;
    this.#last = decided;
  }

  #appWatches(): AppWatches {
    const watches = [...this.#watches.values()];
    const isArea = ({ versions }: Watch) => versions[0]!.condition.kind === "area";
    return {
      find: (id) => this.#watches.get(id) ?? null,
      visitFences(latitude, longitude, visit) {
        for (const watch of watches)
          for (const { condition } of watch.versions)
            if (condition.kind === "area" && condition.shape.contains(latitude, longitude)) visit(watch);
      },
      alerts: watches.filter((watch) => !isArea(watch)),
    };
  }

  #note(changedMs: number): void {
    this.#changedMs = Math.min(this.#changedMs, changedMs);
  }

  /** How many records are not later than this. */
  #indexAfter(timestampMs: number): number {
    let [low, high] = [0, this.#records.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#records[middle]!.timestampMs <= timestampMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const NOTHING_IS_OLD = Number.NEGATIVE_INFINITY;

/** A state as it comes back from JSON. */
function asStored(state: DeviceState): DeviceState {
  const { states, pending, ...numbers } = state;
  const [entries, events] = JSON.parse(JSON.stringify([[...states], pending]));
  return { ...numbers, states: new Map(entries), pending: events };
}
