import { eventId, visitId } from "../../src/geofences/event-id.ts";
import type { Schedule } from "../../src/geofences/schedule.ts";
import type {
  Condition,
  EndReason,
  EventKind,
  Watch,
  WatchEvent,
  WatchedRecord,
  WatchVersion,
} from "../../src/geofences/watch.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { dayAfter, localDate, localTime } from "./local-time.ts";

/*
 * The events of a fence or an alert the obvious way: time is cut into the stretches in which one version is in force
 * and its schedule open; the records of each stretch are looked at together, and each of them looks back at the run
 * that it ends. Silence is looked for afterwards, in the gaps of each visit.
 */

/** Hours as a request has them. */
export interface PlainHours {
  readonly timezone: string;
  readonly weekly: readonly {
    readonly days: readonly number[];
    readonly from: string;
    readonly to: string;
  }[];
  readonly except: readonly string[];
}

/** By the schedules of the watch's versions, which are not looked into. */
export type HoursOf = ReadonlyMap<Schedule, PlainHours>;

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** What lies between two cuts: a version in force, with an open schedule. */
interface Stretch extends Span {
  readonly version: WatchVersion;
  readonly versionEndMs: number;
}

type Saying = "inside" | "outside" | "undecided";

interface Entry {
  readonly record: WatchedRecord;
  readonly says: Saying;
  readonly version: WatchVersion;
}

interface PlainVisit {
  readonly isArea: boolean;
  readonly isKnown: boolean;
  readonly startMs: number;
  /** All records from its first one on that were not ignored. */
  readonly entries: Entry[];
}

const ALWAYS: Span = { startMs: -Infinity, endMs: Infinity };
const MS_PER_DAY = 86_400_000;
const MS_PER_MINUTE = 60_000;

export function plainEvents(
  watch: Watch,
  hours: HoursOf,
  deviceId: DeviceId,
  records: readonly WatchedRecord[],
  nowMs: number,
): WatchEvent[] {
  const horizonMs = Math.max(nowMs, watch.versions.at(-1)!.fromMs, records.at(-1)?.timestampMs ?? 0);
  const stretches = watch.versions.flatMap((version, index): Stretch[] => {
    if (!version.isActive || (version.devices !== null && !version.devices.has(deviceId))) return [];
    const endMs = watch.versions[index + 1]?.fromMs ?? watch.deletedMs ?? Infinity;
    const opened =
      version.schedule === null
        ? [ALWAYS]
        : openings(hours.get(version.schedule)!, version.fromMs, horizonMs);
    return opened
      .map((span) => ({
        startMs: Math.max(span.startMs, version.fromMs),
        endMs: Math.min(span.endMs, endMs),
        version,
        versionEndMs: endMs,
      }))
      .filter((stretch) => stretch.startMs < stretch.endMs);
  });
  const notes = new Notes(watch, deviceId);
  const isSilence = watch.versions[0]!.condition.kind === "silent_for";
  (isSilence ? noteSilences : noteVisits)(notes, stretches, records);
  return notes.events.filter(({ dueMs }) => dueMs <= nowMs);
}

class Notes {
  readonly events: WatchEvent[] = [];
  readonly watch: Watch;
  readonly deviceId: DeviceId;

  constructor(watch: Watch, deviceId: DeviceId) {
    this.watch = watch;
    this.deviceId = deviceId;
  }

  add(
    kind: EventKind,
    { timestampMs, userId }: Pick<WatchedRecord, "timestampMs" | "userId">,
    startMs: number,
    dueMs: number,
    ending: WatchEvent["ending"] = null,
  ): void {
    const { watch, deviceId } = this;
    const version = watch.versions.filter(({ fromMs }) => fromMs <= timestampMs).length;
    this.events.push({
      id: eventId(watch, version, deviceId, timestampMs, kind),
      kind,
      timestampMs,
      deviceId,
      userId,
      watchId: watch.id,
      version,
      visitId: visitId(watch, deviceId, startMs),
      ending,
      dueMs,
    });
  }
}

/* Places, speeds and charges */

function noteVisits(notes: Notes, stretches: readonly Stretch[], records: readonly WatchedRecord[]): void {
  let place: "unknown" | "inside" | "outside" = "unknown";
  let visit: PlainVisit | null = null;
  for (const [index, stretch] of stretches.entries()) {
    const { startMs, version } = stretch;
    const { condition } = version;
    const before = stretches[index - 1];
    if (before?.endMs !== startMs) place = "unknown";
    else if (visit !== null && !isStillInside(version, visit)) {
      noteEnd(notes, stretches, visit, "changed", startMs);
      [visit, place] = [null, "outside"];
    }
    const entries = entriesOf(stretch, records);
    let changedAt = 0;
    for (const [at, entry] of entries.entries()) {
      visit?.entries.push(entry);
      if (entry.says === "undecided" || entry.says === place) continue;
      const run = runThatEndsWith(entry, entries.slice(changedAt, at + 1));
      const first = run[0]!.record;
      const lengthMs = entry.record.timestampMs - first.timestampMs;
      if (run.length < version.confirmations || lengthMs < version.confirmMs) continue;
      if (visit !== null) noteMove(notes, visit, first);
      visit = null;
      if (entry.says === "inside") {
        const isArea = condition.kind === "area";
        const isKnown: boolean =
          place === "outside" || condition.kind !== "area" || condition.initial === "event";
        const beginning = entries.slice(entries.indexOf(run[0]!), at + 1);
        visit = { isArea, isKnown, startMs: first.timestampMs, entries: beginning };
        if (isKnown) notes.add(isArea ? "enter" : "alert_start", first, visit.startMs, 0);
      }
      place = entry.says;
      changedAt = at + 1;
    }
    if (visit === null || stretches[index + 1]?.startMs === stretch.endMs) continue;
    noteEnd(notes, stretches, visit, endReason(notes.watch, stretch), stretch.endMs);
    visit = null;
  }
}

function entriesOf({ startMs, endMs, version }: Stretch, records: readonly WatchedRecord[]): Entry[] {
  return records
    .filter(({ timestampMs }) => timestampMs >= startMs && timestampMs < endMs)
    .flatMap((record): Entry[] => {
      const { users, condition } = version;
      if (users !== null && !users.has(record.userId)) return [];
      if (condition.kind === "area" && (record.accuracyMeters ?? 0) > condition.accuracyMetersMax) return [];
      const says = saying(condition, record);
      return says === null ? [] : [{ record, says, version }];
    });
}

/** Null if the record says nothing at all. */
function saying(condition: Condition, record: WatchedRecord): Saying | null {
  if (condition.kind === "area") {
    const meters = condition.shape.distanceMeters(record.latitude, record.longitude);
    const accuracy = record.accuracyMeters ?? 0;
    if (meters >= Math.min(accuracy, condition.shape.accuracyMetersMax) / 2) return "inside";
    return meters <= -(accuracy + condition.exitBufferMeters) ? "outside" : "undecided";
  }
  if (condition.kind === "silent_for") return "outside";
  const isSpeed = condition.kind === "speed_above";
  const value = isSpeed ? record.metersPerSecond : record.batteryPercent;
  if (value === null) return null;
  if (isSpeed) return value > condition.metersPerSecond ? "inside" : "outside";
  if (value < condition.percent) return "inside";
  return value < condition.percent + 5 ? "undecided" : "outside";
}

/** Looks back for the records that say the same in a row. */
function runThatEndsWith(last: Entry, entries: readonly Entry[]): Entry[] {
  const decided = entries.filter(({ says }) => says !== "undecided");
  const other = decided.findLastIndex(({ says }) => says !== last.says);
  return decided.slice(other + 1);
}

function lastInside({ entries }: PlainVisit): number {
  return entries.findLastIndex(({ says }) => says === "inside");
}

function isStillInside({ users, condition }: WatchVersion, visit: PlainVisit): boolean {
  const { record } = visit.entries[lastInside(visit)]!;
  return (users === null || users.has(record.userId)) && saying(condition, record) === "inside";
}

function endReason(watch: Watch, { endMs, versionEndMs }: Stretch): EndReason {
  if (endMs < versionEndMs) return "schedule";
  return endMs === watch.deletedMs ? "deleted" : "changed";
}

function noteMove(notes: Notes, visit: PlainVisit, first: WatchedRecord): void {
  noteDwell(notes, visit);
  const ending = { reason: "moved", ...countsOf(visit, first.timestampMs) } as const;
  notes.add(visit.isArea ? "exit" : "alert_end", first, visit.startMs, 0, ending);
}

/** Ends a visit at a time that no record makes; at silence instead, if that came before. */
function noteEnd(
  notes: Notes,
  stretches: readonly Stretch[],
  visit: PlainVisit,
  reason: EndReason,
  endMs: number,
): void {
  noteDwell(notes, visit);
  const silentMs = silenceIn(visit, stretches, endMs);
  const timestampMs = silentMs ?? endMs;
  if (timestampMs === Infinity) return;
  const { userId } = visit.entries[lastInside(visit)]!.record;
  const ending = { reason: silentMs === null ? reason : "silent", ...countsOf(visit, Infinity) } as const;
  const dueMs = ending.reason === "silent" || ending.reason === "schedule" ? timestampMs : 0;
  notes.add(visit.isArea ? "exit" : "alert_end", { timestampMs, userId }, visit.startMs, dueMs, ending);
}

function countsOf({ entries, isKnown, startMs }: PlainVisit, endMs: number) {
  const positions = entries.filter(
    ({ says, record }) => says === "inside" && record.timestampMs < endMs,
  ).length;
  return { enteredMs: isKnown ? startMs : null, positions };
}

function noteDwell(notes: Notes, visit: PlainVisit): void {
  const dwell = visit.entries.find(({ record, says, version: { condition } }) => {
    if (says !== "inside" || condition.kind !== "area" || condition.dwellMs === null) return false;
    return record.timestampMs - visit.startMs >= condition.dwellMs;
  });
  if (dwell !== undefined) notes.add("dwell", dwell.record, visit.startMs, 0);
}

/** When the device fell silent after the last record that was inside; null if it did not. */
function silenceIn({ entries }: PlainVisit, stretches: readonly Stretch[], endMs: number): number | null {
  const rest = entries.slice(entries.findLastIndex(({ says }) => says === "inside"));
  for (const [index, { record }] of rest.entries()) {
    const nextMs = rest[index + 1]?.record.timestampMs ?? endMs;
    for (const { version, startMs: fromMs, endMs: untilMs } of stretches) {
      const { condition } = version;
      if (condition.kind !== "area" || condition.silenceMs === null) continue;
      const silentMs = Math.max(record.timestampMs + condition.silenceMs, version.fromMs);
      if (silentMs >= fromMs && silentMs < Math.min(untilMs, nextMs)) return silentMs;
    }
  }
  return null;
}

/* Silence */

function noteSilences(notes: Notes, stretches: readonly Stretch[], records: readonly WatchedRecord[]): void {
  const heard = stretches.flatMap((stretch) => entriesOf(stretch, records).map(({ record }) => record));
  for (const [index, record] of heard.entries())
    noteSilence(notes, stretches, record, heard[index + 1] ?? null);
}

/** The alerts between two records. */
function noteSilence(
  notes: Notes,
  stretches: readonly Stretch[],
  { timestampMs, userId }: WatchedRecord,
  next: WatchedRecord | null,
): void {
  const { watch } = notes;
  const nextMs = next?.timestampMs ?? Infinity;
  let heardMs = timestampMs;
  let startMs: number | null = null;
  const close = (reason: EndReason, moment: Pick<WatchedRecord, "timestampMs" | "userId">) =>
    notes.add("alert_end", moment, startMs!, dueOf(reason, moment.timestampMs, startMs!), {
      reason,
      enteredMs: startMs,
      positions: 0,
    });
  for (const [index, { startMs: fromMs, endMs, version }] of stretches.entries()) {
    if (endMs <= timestampMs) continue;
    if (fromMs > nextMs) break;
    const before = stretches[index - 1];
    if (fromMs > timestampMs && before?.endMs !== fromMs) {
      if (startMs !== null) {
        close(endReason(watch, before!), { timestampMs: before!.endMs, userId });
        return;
      }
      if (isForgotten(notes, before!, fromMs)) return;
      heardMs = fromMs;
    }
    const { condition } = version;
    if (condition.kind !== "silent_for") return;
    const silentMs = heardMs + condition.silenceMs;
    if (startMs !== null && silentMs > fromMs) {
      close("changed", { timestampMs: fromMs, userId });
      startMs = null;
    }
    const alertMs = Math.max(silentMs, version.fromMs);
    if (startMs !== null || alertMs >= Math.min(endMs, nextMs)) continue;
    startMs = alertMs;
    notes.add("alert_start", { timestampMs: startMs, userId }, startMs, startMs);
  }
  if (startMs === null) return;
  const last = stretches.findLast((stretch) => stretch.startMs <= nextMs && stretch.endMs > startMs!)!;
  if (last.endMs <= nextMs && last.endMs < Infinity)
    close(endReason(watch, last), { timestampMs: last.endMs, userId });
  else if (next !== null) close("moved", next);
}

function dueOf(reason: EndReason, timestampMs: number, startMs: number): number {
  return reason === "schedule" ? timestampMs : startMs;
}

/** Whether a version that is not for the device lies between two stretches. */
function isForgotten({ watch, deviceId }: Notes, before: Stretch, untilMs: number): boolean {
  return watch.versions.some(
    ({ fromMs, isActive, devices }) =>
      fromMs >= before.endMs &&
      fromMs <= untilMs &&
      !(isActive && (devices === null || devices.has(deviceId))),
  );
}

/* Schedules */

/** The openings that end after one time and begin before another, and some around them, in order. */
export function openings({ timezone, weekly, except }: PlainHours, fromMs: number, untilMs: number): Span[] {
  const spans: Span[] = [];
  const lastDate = localDate(timezone, untilMs + 4 * MS_PER_DAY);
  for (let date = localDate(timezone, fromMs - 4 * MS_PER_DAY); date <= lastDate; date = dayAfter(date)) {
    if (except.includes(date)) continue;
    const weekday = (new Date(date).getUTCDay() + 6) % 7;
    for (const { days, from, to } of weekly) {
      if (!days.includes(weekday)) continue;
      const startMs = firstShown(timezone, date, from);
      const endMs = firstShown(timezone, to > from ? date : dayAfter(date), to);
      if (startMs < endMs) spans.push({ startMs, endMs });
    }
  }
  spans.sort((a, b) => a.startMs - b.startMs);
  const joined: Span[] = [];
  for (const span of spans) {
    const before = joined.at(-1);
    if (before === undefined || before.endMs < span.startMs) joined.push(span);
    else joined[joined.length - 1] = { ...before, endMs: Math.max(before.endMs, span.endMs) };
  }
  return joined;
}

/** The first minute at which local clocks show a time of a date, or a later one. */
function firstShown(timezone: string, date: string, time: string): number {
  const wanted = time === "24:00" ? `${dayAfter(date)}T00:00` : `${date}T${time}`;
  const key = `${timezone} ${wanted}`;
  const known = firstMinutes.get(key);
  if (known !== undefined) return known;
  const shows = (instantMs: number) => localTime(timezone, instantMs).slice(0, 16) >= wanted;
  let instantMs = Date.parse(date) - 15 * 60 * MS_PER_MINUTE;
  while (!shows(instantMs + QUARTER_MS)) instantMs += QUARTER_MS; // Clocks change on whole quarters of an hour.
  while (!shows(instantMs)) instantMs += MS_PER_MINUTE;
  firstMinutes.set(key, instantMs);
  return instantMs;
}

const firstMinutes = new Map<string, number>();
const QUARTER_MS = 15 * MS_PER_MINUTE;
