import type { DecidedEvent } from "../../geofences/watch.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { DecidedEvents } from "./decided-events.ts";
import type { DeviceStates } from "./device-states.ts";
import type { EventStore } from "./event-store.ts";
import { type EventPlan, planEvents } from "./plan-events.ts";
import { isLateEvent } from "./stored-event.ts";
import type { Task } from "./task.ts";

/** Revisions of a transaction, which takes some milliseconds. */
const REVISIONS_MAX = 64;

export interface WriterDependencies {
  readonly hot: Pick<HotStore, "marks" | "watches">;
  readonly events: EventStore;
  readonly decided: DecidedEvents;
  readonly states: DeviceStates;
  readonly clock: Clock;
}

/** Writes what was decided of a device. */
export class TaskWriter {
  readonly #dependencies: WriterDependencies;

  constructor(dependencies: WriterDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Writes most events of a device that has many. A crash may come between: they are decided again, and those that are
   * stored stay as they are.
   */
  *writeAhead(task: Task, isOvertaken: () => boolean): Steps<void> {
    const { revisions } = this.#planOf(task);
    for (let from = 0; revisions.length - from > REVISIONS_MAX && !isOvertaken(); from += REVISIONS_MAX) {
      this.#dependencies.events.transact(() => this.#put(task, revisions.slice(from, from + REVISIONS_MAX)));
      yield;
    }
  }

  #planOf(task: Task): EventPlan {
    const { events, decided, hot } = this.#dependencies;
    const { appId, deviceId, start, neededMs, untilMs } = task;
    task.decided ??= task.decision.end(hot.watches.clockMs, untilMs === Infinity);
    const { byId } = hot.watches.find(appId) ?? { byId: new Map() };
    const stored = decided.within(appId, deviceId, start.asOfMs, untilMs);
    const isOpen = ({ event }: DecidedEvent) => event.timestampMs >= neededMs && byId.has(event.watchId);
    return planEvents(stored.filter(isOpen), task.decided.events.filter(isOpen), (id) =>
      events.find(appId, id),
    );
  }

  #put({ appId }: Task, revisions: EventPlan["revisions"]): void {
    const { decided, clock } = this.#dependencies;
    const madeMs = clock.nowMs();
    for (const revision of revisions) {
      const isLate = isLateEvent(revision.event, madeMs);
      decided.write({ ...revision, appId, isLate, madeMs });
    }
  }

  /** Writes the rest, with the state of the device, in a transaction of the caller. */
  write(task: Task, hasMarks: boolean): void {
    const { states, hot } = this.#dependencies;
    const { appId, deviceId, fromMs, before, start, neededMs, untilMs } = task;
    const { revisions, moved } = this.#planOf(task);
    const decided = task.decided!;
    this.#put(task, revisions);
    for (const { event, decidedMs } of moved) this.#dependencies.decided.move(appId, event.id, decidedMs);
    if (hasMarks) {
      const { fromMs: laterMs = Infinity } = hot.marks().ofApp(appId).devices.get(deviceId) ?? {};
      const restMs = Math.min(laterMs, untilMs + 1);
      states.dropMark(appId, deviceId, Math.min(fromMs, start.asOfMs + 1), restMs);
    }
    const isFar = decided.state.states.size + decided.state.pending.length === 0;
    const wasFar = before === null || before.states.size + before.pending.length === 0;
    const isSame =
      isFar &&
      wasFar &&
      start.sinceMs === decided.state.sinceMs &&
      (before?.sinceMs ?? -Infinity) === start.sinceMs;
    if (!isSame) states.write(appId, deviceId, start, decided, neededMs);
  }
}
