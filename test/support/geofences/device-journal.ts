import { Decision } from "../../../src/geofences/decision.ts";
import { type EventRevision, planRevisions } from "../../../src/geofences/revisions.ts";
import { type DecidedEvent, decideStretch, type ReachedState } from "../../../src/geofences/stretch.ts";
import type { Watch, WatchEvent, WatchedRecord } from "../../../src/geofences/watch.ts";
import { createWatchState } from "../../../src/geofences/watch-state.ts";
import type { DeviceId } from "../../../src/model/ids.ts";

const BEGINNING: ReachedState = {
  timestampMs: Number.NEGATIVE_INFINITY,
  state: createWatchState(),
  unsettledCount: 0,
};

/** The events of one device for a watch, while its records arrive in any order. Each change is told by revisions. */
export class DeviceJournal {
  #watch: Watch;
  readonly #deviceId: DeviceId;
  /** In the order of their times. */
  readonly #records: WatchedRecord[] = [];
  #events: readonly DecidedEvent[] = [];
  #settled: readonly ReachedState[] = [BEGINNING];
  #last = BEGINNING;
  #nowMs: number;
  /** What receivers have. */
  #visible: readonly WatchEvent[] = [];
  readonly #revisions = new Map<string, EventRevision>();
  /** Records that were read again. */
  readCount = 0;

  constructor(watch: Watch, deviceId: DeviceId, nowMs: number) {
    this.#watch = watch;
    this.#deviceId = deviceId;
    this.#nowMs = nowMs;
  }

  /** Those that are not withdrawn. */
  get events(): readonly WatchEvent[] {
    return this.#visible;
  }

  /** Takes records that are new or replace others of their times, and returns what receivers are sent. */
  report(records: readonly WatchedRecord[]): readonly EventRevision[] {
    for (const record of records) {
      const index = this.#indexAfter(record.timestampMs - 1);
      const isKnown = this.#records[index]?.timestampMs === record.timestampMs;
      this.#records.splice(index, isKnown ? 1 : 0, record);
    }
    return this.#redecide(records.map(({ timestampMs }) => timestampMs));
  }

  remove(timesMs: readonly number[]): readonly EventRevision[] {
    for (const timestampMs of timesMs) {
      const index = this.#indexAfter(timestampMs - 1);
      if (this.#records[index]?.timestampMs === timestampMs) this.#records.splice(index, 1);
    }
    return this.#redecide(timesMs);
  }

  /** Takes another version of the watch, or its deletion, which is in force from this time on. */
  change(watch: Watch, fromMs: number): readonly EventRevision[] {
    this.#watch = watch;
    return this.#redecide([fromMs, Number.POSITIVE_INFINITY]);
  }

  advanceTo(nowMs: number): readonly EventRevision[] {
    this.#nowMs = nowMs;
    return this.#publish();
  }

  #redecide(timesMs: readonly number[]): readonly EventRevision[] {
    if (timesMs.length === 0) return [];
    const [firstMs, lastMs] = [Math.min(...timesMs), Math.max(...timesMs)];
    const from = this.#last.timestampMs < firstMs ? this.#last : this.#settledBefore(firstMs);
    const later = this.#settled.filter(({ timestampMs }) => timestampMs > lastMs);
    const stretch = decideStretch(
      this.#watch,
      this.#deviceId,
      from,
      this.#recordsAfter(from.timestampMs),
      later,
    );
    const isOld = (timestampMs: number) =>
      timestampMs <= from.timestampMs || (stretch.isAsBefore && timestampMs > stretch.last.timestampMs);
    const events = this.#events.filter(({ decidedMs }) => isOld(decidedMs));
    this.#events = [...events, ...stretch.events].sort((a, b) => a.decidedMs - b.decidedMs);
    const settled = this.#settled.filter(({ timestampMs }) => isOld(timestampMs));
    this.#settled = [...settled, ...stretch.settled].sort((a, b) => a.timestampMs - b.timestampMs);
    if (!stretch.isAsBefore) this.#last = stretch.last;
    return this.#publish();
  }

  #settledBefore(timestampMs: number): ReachedState {
    return this.#settled.findLast((settled) => settled.timestampMs < timestampMs)!;
  }

  *#recordsAfter(timestampMs: number): Generator<WatchedRecord> {
    for (let index = this.#indexAfter(timestampMs); index < this.#records.length; index++) {
      this.readCount++;
      yield this.#records[index]!;
    }
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

  #publish(): readonly EventRevision[] {
    const decision = new Decision(this.#watch, this.#deviceId, this.#last.state);
    const events = [...this.#events.map(({ event }) => event), ...decision.tail(this.#nowMs)];
    const visible = events.filter(({ dueMs }) => dueMs <= this.#nowMs);
    const revisions = planRevisions(this.#visible, visible, (id) => this.#revisions.get(id) ?? null);
    for (const revision of revisions) this.#revisions.set(revision.event.id, revision);
    this.#visible = visible;
    return revisions;
  }
}
