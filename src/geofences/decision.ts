import type { DeviceId, UserId } from "../model/ids.ts";
import { MS_PER_DAY } from "../model/time/units.ts";
import { eventId, visitId } from "./event-id.ts";
import { isStillInside, judge } from "./judge.ts";
import type { ScheduleSpan } from "./schedule.ts";
import type { EndReason, EventKind, Watch, WatchEvent, WatchedRecord, WatchVersion } from "./watch.ts";
import { copyWatchState, createWatchState, type Run, type Visit, type WatchState } from "./watch-state.ts";

/**
 * All events of a device for a watch, oldest first. Records are in the order of their times, each time once; `nowMs`
 * is the clock of timed events.
 */
export function decideEvents(
  watch: Watch,
  deviceId: DeviceId,
  records: Iterable<WatchedRecord>,
  nowMs: number,
): WatchEvent[] {
  const decision = new Decision(watch, deviceId, createWatchState());
  const events: WatchEvent[] = [];
  for (const record of records) events.push(...decision.take(record));
  events.push(...decision.tail(nowMs));
  return events.filter(({ dueMs }) => dueMs <= nowMs);
}

/** The device falls silent, another version begins or the watch is deleted, or the schedule opens or closes. */
interface TimeStep {
  readonly kind: "silence" | "change" | "schedule";
  readonly atMs: number;
  /** What was in force before. */
  readonly version: WatchVersion;
  readonly span: ScheduleSpan;
}

/** Hours repeat each week, so what does not come within this depends on exceptions. */
const DUE_AHEAD_MS = 8 * MS_PER_DAY;

const NO_EVENTS: readonly WatchEvent[] = [];
const ALWAYS: ScheduleSpan = { isOpen: true, endMs: Infinity };

/** Changes the state of a device for a watch, record after record, and makes the events. */
export class Decision {
  readonly #watch: Watch;
  readonly #deviceId: DeviceId;
  readonly #isArea: boolean;
  readonly #state: WatchState;
  #events: WatchEvent[] = [];

  constructor(watch: Watch, deviceId: DeviceId, state: WatchState) {
    this.#watch = watch;
    this.#deviceId = deviceId;
    this.#isArea = watch.versions[0]!.condition.kind === "area";
    this.#state = state;
  }

  /** Takes the next record. Returns the events that it decides, some of which may be due only later. */
  take(record: WatchedRecord): readonly WatchEvent[] {
    const { timestampMs, userId } = record;
    const version = versionAt(this.#watch, timestampMs);
    if (version === null) return NO_EVENTS;
    const judgement = judge(version, this.#deviceId, record);
    if (judgement === "ignored") return NO_EVENTS;
    this.#passTime(timestampMs, timestampMs - 1);
    this.#state.last = { timestampMs, userId };
    if (judgement !== "undecided") this.#observe(version, judgement, record);
    return this.#takeEvents();
  }

  /** The events after the last record if none comes until `nowMs`. The state stays as it is. */
  tail(nowMs: number): readonly WatchEvent[] {
    const rest = new Decision(this.#watch, this.#deviceId, copyWatchState(this.#state));
    // A change of the watch is no timed event: it counts even if the clock stands still.
    const untilMs = Math.max(nowMs, this.#watch.versions.at(-1)!.fromMs, this.#watch.deletedMs ?? 0);
    rest.#passTime(untilMs, untilMs);
    if (rest.#state.visit?.silentMs != null) rest.#endVisit("silent", untilMs);
    return rest.#takeEvents().filter(({ dueMs }) => dueMs <= nowMs);
  }

  /**
   * When time alone brings the next event of `tail()` after `nowMs`, or an instant before that; `Infinity` if it never
   * does.
   */
  dueAfterMs(nowMs: number): number {
    const { last, visit } = this.#state;
    const isWaiting = last !== null && this.#watch.versions.some(needsClock);
    const isSilent = visit?.silentMs != null && visit.silentMs > nowMs;
    if (!isWaiting) return isSilent ? visit.silentMs! : Infinity;
    const rest = new Decision(this.#watch, this.#deviceId, copyWatchState(this.#state));
    let heardMs = last.timestampMs;
    for (let atMs = heardMs; rest.#state.last !== null; ) {
      const step = rest.#nextStep(atMs, heardMs);
      atMs = step.atMs;
      if (atMs === Infinity) return isSilent ? visit.silentMs! : Infinity;
      heardMs = rest.#makeStep(step, heardMs);
      const hasEvent = rest.#events.length > 0 || (step.kind === "silence" && rest.#state.visit !== null);
      if (atMs > nowMs && (hasEvent || atMs > nowMs + DUE_AHEAD_MS))
        return isSilent ? Math.min(visit.silentMs!, atMs) : atMs;
    }
    return isSilent ? visit.silentMs! : Infinity;
  }

  /* What a record says */

  #observe(version: WatchVersion, judgement: "inside" | "outside", record: WatchedRecord): void {
    const state = this.#state;
    const { timestampMs, userId } = record;
    const moment = { timestampMs, userId };
    if (judgement === state.place) {
      state.run = null;
      if (state.visit !== null) this.#stay(version, state.visit, record);
      return;
    }
    if (state.run?.toward !== judgement)
      state.run = { toward: judgement, first: moment, count: 0, dwell: null };
    const { run } = state;
    run.count++;
    const lengthMs = timestampMs - run.first.timestampMs;
    if (run.dwell === null && lengthMs >= dwellMsOf(version)) run.dwell = moment;
    if (run.count < version.confirmations || lengthMs < version.confirmMs) return;
    if (judgement === "inside") this.#enter(version, run, record);
    else this.#endVisit("moved", run.first.timestampMs, run.first.userId);
    state.place = judgement;
    state.run = null;
  }

  #enter({ condition }: WatchVersion, run: Run, record: WatchedRecord): void {
    const { first, count: positions, dwell } = run;
    const startMs = first.timestampMs;
    const isQuiet = condition.kind === "area" && condition.initial === "none";
    const isEntryKnown = this.#state.place === "outside" || !isQuiet;
    const hasDwelled = dwell !== null;
    const visit: Visit = { startMs, isEntryKnown, positions, hasDwelled, record, silentMs: null };
    this.#state.visit = visit;
    if (isEntryKnown) this.#push(this.#isArea ? "enter" : "alert_start", startMs, first.userId, visit);
    if (dwell !== null) this.#push("dwell", dwell.timestampMs, dwell.userId, visit);
  }

  #stay(version: WatchVersion, visit: Visit, record: WatchedRecord): void {
    visit.positions++;
    visit.record = record;
    visit.silentMs = null;
    if (visit.hasDwelled || record.timestampMs - visit.startMs < dwellMsOf(version)) return;
    visit.hasDwelled = true;
    this.#push("dwell", record.timestampMs, record.userId, visit);
  }

  /* What time brings */

  /**
   * Lets time pass after the last record: the schedule opens and closes, versions follow each other until `untilMs`,
   * and the device falls silent until `silentUntilMs`, both included.
   */
  #passTime(untilMs: number, silentUntilMs: number): void {
    let atMs = this.#state.last?.timestampMs ?? 0;
    let heardMs = atMs; // The silence of the device counts from here.
    while (this.#state.last !== null) {
      const step = this.#nextStep(atMs, heardMs);
      atMs = step.atMs;
      if (atMs > (step.kind === "silence" ? silentUntilMs : untilMs)) return;
      heardMs = this.#makeStep(step, heardMs);
    }
  }

  /** What time brings next after an instant, if no record comes. */
  #nextStep(fromMs: number, heardMs: number): TimeStep {
    const version = versionAt(this.#watch, fromMs)!;
    const span = version.schedule?.spanAt(fromMs) ?? ALWAYS;
    const changeMs = nextChangeMs(this.#watch, fromMs);
    const silentMs = Math.max(version.fromMs, heardMs + this.#silenceMs(version, span));
    const atMs = Math.min(silentMs, changeMs, span.endMs);
    if (silentMs < Math.min(changeMs, span.endMs)) return { kind: "silence", atMs, version, span };
    return { kind: atMs === changeMs ? "change" : "schedule", atMs, version, span };
  }

  /** Returns from when the silence of the device counts. */
  #makeStep({ kind, atMs, version, span }: TimeStep, heardMs: number): number {
    const fromMs = span.isOpen ? heardMs : atMs;
    if (kind === "silence") this.#fallSilent(atMs);
    else if (kind === "change") this.#change(atMs, fromMs);
    else if (span.isOpen) this.#closeSchedule(version, atMs);
    return fromMs;
  }

  /** How long the device must be silent for something to happen. */
  #silenceMs({ condition }: WatchVersion, { isOpen }: ScheduleSpan): number {
    const { visit } = this.#state;
    if (condition.kind === "silent_for") return visit === null && isOpen ? condition.silenceMs : Infinity;
    if (condition.kind !== "area" || visit === null || visit.silentMs !== null) return Infinity;
    return condition.silenceMs ?? Infinity;
  }

  #fallSilent(silentMs: number): void {
    const state = this.#state;
    if (state.visit !== null) {
      state.visit.silentMs = silentMs;
      return;
    }
    const visit: Visit = {
      startMs: silentMs,
      isEntryKnown: true,
      positions: 0,
      hasDwelled: false,
      record: null,
      silentMs: null,
    };
    state.visit = visit;
    state.place = "inside";
    this.#push("alert_start", silentMs, state.last!.userId, visit);
  }

  /** Begins the version of this time, or deletes the watch. */
  #change(changeMs: number, heardMs: number): void {
    const state = this.#state;
    const version = versionAt(this.#watch, changeMs);
    if (version === null || !this.#isInForce(version, changeMs)) {
      this.#endVisit(version === null ? "deleted" : "changed", changeMs);
      this.#forget();
      return;
    }
    state.run = null;
    if (state.visit === null) return;
    const { record } = state.visit;
    const { condition } = version;
    if (record !== null && isStillInside(version, this.#deviceId, record)) return;
    if (record === null && condition.kind === "silent_for" && heardMs + condition.silenceMs <= changeMs)
      return;
    this.#endVisit("changed", changeMs);
    state.place = "outside";
  }

  #isInForce({ isActive, devices, schedule, condition }: WatchVersion, timestampMs: number): boolean {
    if (!isActive || (devices !== null && !devices.has(this.#deviceId))) return false;
    if (schedule === null || schedule.spanAt(timestampMs).isOpen) return true;
    return condition.kind === "silent_for" && this.#state.visit === null; // It waits for the next opening.
  }

  #closeSchedule({ condition }: WatchVersion, endMs: number): void {
    if (condition.kind === "silent_for" && this.#state.visit === null) return;
    this.#endVisit("schedule", endMs);
    this.#forget();
  }

  #forget(): void {
    Object.assign(this.#state, createWatchState());
  }

  /* Events */

  /** Ends the visit, if there is one; earlier, if the device was silent and no record says that it moved. */
  #endVisit(reason: EndReason, timestampMs: number, userId?: UserId): void {
    const { visit, last } = this.#state;
    if (visit === null) return;
    this.#state.visit = null;
    const { silentMs, startMs, isEntryKnown, positions, record } = visit;
    const isSilent = silentMs !== null && reason !== "moved";
    const ending = {
      reason: isSilent ? "silent" : reason,
      enteredMs: isEntryKnown ? startMs : null,
      positions,
    } as const;
    const kind = this.#isArea ? "exit" : "alert_end";
    const user = userId ?? record?.userId ?? last!.userId;
    this.#push(kind, isSilent ? silentMs : timestampMs, user, visit, ending);
  }

  #push(
    kind: EventKind,
    timestampMs: number,
    userId: UserId,
    { startMs, record }: Visit,
    ending: WatchEvent["ending"] = null,
  ): void {
    const watch = this.#watch;
    const deviceId = this.#deviceId;
    const version = watch.versions.findLast(({ fromMs }) => fromMs <= timestampMs)!.number;
    const isTimed = ending?.reason === "silent" || ending?.reason === "schedule";
    this.#events.push({
      id: eventId(watch, version, deviceId, timestampMs, kind),
      kind,
      timestampMs,
      deviceId,
      userId,
      watchId: watch.id,
      version,
      visitId: visitId(watch, deviceId, startMs),
      ending,
      dueMs: isTimed ? timestampMs : record === null ? startMs : 0,
    });
  }

  #takeEvents(): readonly WatchEvent[] {
    if (this.#events.length === 0) return NO_EVENTS;
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** The version in force for records of this time; null before the first one, and once the watch is deleted. */
export function versionAt({ versions, deletedMs }: Watch, timestampMs: number): WatchVersion | null {
  if (deletedMs !== null && timestampMs >= deletedMs) return null;
  return versions.findLast(({ fromMs }) => fromMs <= timestampMs) ?? null;
}

/** When the next version begins or the watch is deleted; `Infinity` if neither happens after this time. */
function nextChangeMs({ versions, deletedMs }: Watch, timestampMs: number): number {
  return versions.find(({ fromMs }) => fromMs > timestampMs)?.fromMs ?? deletedMs ?? Infinity;
}

function dwellMsOf({ condition }: WatchVersion): number {
  return condition.kind === "area" ? (condition.dwellMs ?? Infinity) : Infinity;
}

/** Whether time alone may change the state of a device. */
export function needsClock({ condition, schedule }: WatchVersion): boolean {
  if (schedule !== null || condition.kind === "silent_for") return true;
  return condition.kind === "area" && condition.silenceMs !== null;
}
