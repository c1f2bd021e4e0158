import type { ArchiveScan } from "../../archive/read/archive-scan.ts";
import type { ArchiveSession, FixRows } from "../../archive/read/archive-session.ts";
import type { Watch, WatchEvent } from "../../geofences/watch.ts";
import { createWatchVersion } from "../../geofences/watch-version.ts";
import { addFixes, type FixSink } from "../../hot/scan/memory-scan.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { startOfUtcDayMs } from "../../model/time/retention.ts";
import { MS_PER_DAY, MS_PER_HOUR } from "../../model/time/units.ts";
import type { WatchTerms } from "../../model/watches/watch-rules.ts";
import { type Caller, retainedRange } from "../queries/find-device.ts";
import {
  createReadStretches,
  type HistoryDependencies,
  type StretchSink,
} from "../queries/history/read-stretches.ts";
import { type Fixes, FleetDecision, type FleetLimits } from "./fleet-decision.ts";

/*
 * The events that a fence or an alert would have made of the records of an app. Nothing of it is kept.
 */

export interface PreviewQuery {
  readonly terms: WatchTerms;
  /** The fence is in force from its start, and its end is the clock of timed events. */
  readonly range: TimeRange;
  /** Which of the events are answered, oldest first. */
  readonly offset: number;
  readonly limit: number;
}

export interface Preview {
  readonly total: number;
  /** Whether records are missing that the operator gave up as lost. */
  readonly isIncomplete: boolean;
}

/** Calls `onEvents` with the events of the page as soon as they are certain. */
export type PreviewFence = (
  appId: AppId,
  query: PreviewQuery,
  caller: Caller,
  onEvents: (events: readonly WatchEvent[]) => void,
) => Promise<Result<Preview, ServiceError>>;

const LIMITS: FleetLimits = { eventsMax: 100_000, devicesMax: 250_000 };

const TOO_MUCH: ServiceError = {
  kind: "invalid_parameter",
  message: "the range has too many devices or events for a preview; ask for less time",
};

/** The first events come after a window of time this long. The next ones are longer. */
const FIRST_WINDOW_MS = MS_PER_HOUR;
const WINDOW_GROWTH = 4;

export function createPreviewFence(dependencies: HistoryDependencies): PreviewFence {
  const readStretches = createReadStretches(dependencies);
  return async function previewFence(appId, { terms, range, ...asked }, caller, onEvents) {
    const version = createWatchVersion(terms, 1, range.startMs);
    const watch: Watch = { appId, id: "preview", versions: [version], deletedMs: null };
    const whose = { appId, device: null, range: retainedRange(dependencies, range) };
    const page = new EventPage(asked, onEvents);
    const begin = () => {
      page.begin();
      return new PreviewSink(dependencies, new FleetDecision(watch, LIMITS), page, range.endMs);
    };
    const read = await readStretches(whose, caller, begin);
    if (!read.ok) return read;
    const { value: total, isIncomplete } = read.value;
    return total === null ? fail(TOO_MUCH) : ok({ total, isIncomplete });
  };
}

/** Counts events and hands on those of a page. If reading begins again, it hands on none of them twice. */
class EventPage {
  readonly #offset: number;
  readonly #limit: number;
  readonly #onEvents: (events: readonly WatchEvent[]) => void;
  /** The events that were handed on. */
  readonly #sentIds: string[] = [];
  #count = 0;

  constructor(
    { offset, limit }: Pick<PreviewQuery, "offset" | "limit">,
    onEvents: (events: readonly WatchEvent[]) => void,
  ) {
    this.#offset = offset;
    this.#limit = limit;
    this.#onEvents = onEvents;
  }

  get count(): number {
    return this.#count;
  }

  begin(): void {
    this.#count = 0;
  }

  take(events: readonly WatchEvent[]): void {
    const start = this.#count - this.#offset;
    this.#count += events.length;
    const ofPage = events.slice(Math.max(0, -start), Math.max(0, this.#limit - start));
    const news: WatchEvent[] = [];
    for (const [index, event] of ofPage.entries()) {
      const sentId = this.#sentIds[Math.max(0, start) + index];
      if (sentId === undefined) news.push(event);
      // A late report came between the two readings: the answer breaks off, and the client asks again.
      else if (sentId !== event.id) throw new Error("records of a preview changed while a seal moved them");
    }
    if (news.length === 0) return;
    this.#sentIds.push(...news.map(({ id }) => id));
    this.#onEvents(news);
  }
}

class PreviewSink implements StretchSink<FixRows, number | null> {
  readonly #hot: HistoryDependencies["hot"];
  readonly #fleet: FleetDecision;
  readonly #page: EventPage;
  readonly #endMs: number;
  readonly #isFence: boolean;
  /** All records before this have been taken. */
  #reachedMs = 0;
  /** The events up to here have been settled. */
  #settledMs = 0;
  #windowMs = FIRST_WINDOW_MS;

  constructor({ hot }: HistoryDependencies, fleet: FleetDecision, page: EventPage, endMs: number) {
    this.#hot = hot;
    this.#fleet = fleet;
    this.#page = page;
    this.#endMs = endMs;
    this.#isFence = fleet.watch.versions[0]!.condition.kind === "area";
  }

  *addMemory(range: TimeRange): Steps<void> {
    const app = this.#hot.findApp(this.#fleet.watch.appId);
    if (app === null) return;
    const fixes = new FixList();
    for (const window of this.#windows(range, MS_PER_DAY)) {
      const scan = this.#hot.scan({ devices: app, range: window, userId: null, accuracyMetersMax: null });
      const adding = addFixes(scan, fixes);
      for (let isDone = false; !isDone; fixes.clear()) {
        isDone = adding.next().done === true;
        yield;
        yield* this.#fleet.takeRows(fixes);
      }
      yield* this.#settle(window.endMs);
    }
  }

  async *read(session: ArchiveSession, scan: ArchiveScan): AsyncIterable<FixRows> {
    const { range, late } = scan;
    for (const window of late === null ? this.#windows(range, Number.POSITIVE_INFINITY) : [range]) {
      const windowed = { ...scan, range: window };
      // Fences need neither speed nor charge, and columns take time to read.
      yield* this.#isFence ? session.fixes(windowed) : session.watched(windowed);
      this.#reachedMs = window.endMs;
    }
  }

  /** The archive reads one day after the other, and the devices of a day one after the other. */
  *addRows(rows: FixRows): Steps<void> {
    const dayMs = startOfUtcDayMs(rows.timestampMs[0] ?? 0);
    yield* this.#settle(Math.max(this.#reachedMs, dayMs));
    yield* this.#fleet.takeRows(rows);
  }

  /** The number of events; null if there are too many of them or of devices. */
  *end(): Steps<number | null> {
    const rest = yield* this.#fleet.end(this.#endMs);
    if (this.#fleet.isTooMuch) return null;
    this.#page.take(rest);
    return this.#page.count;
  }

  *#settle(untilMs: number): Steps<void> {
    if (untilMs <= this.#settledMs || this.#fleet.isTooMuch) return;
    this.#settledMs = untilMs;
    const settled = yield* this.#fleet.settle(untilMs);
    if (!this.#fleet.isTooMuch) this.#page.take(settled);
  }

  /** Short at first, so that the first events come soon; later each pass over the devices should be worth it. */
  *#windows({ startMs, endMs }: TimeRange, lastMs: number): Iterable<TimeRange> {
    for (let fromMs = startMs; fromMs < endMs; ) {
      const windowMs = this.#windowMs < MS_PER_DAY ? this.#windowMs : lastMs;
      const toMs = Math.min(endMs, fromMs + windowMs);
      yield { startMs: fromMs, endMs: toMs };
      this.#windowMs *= WINDOW_GROWTH;
      fromMs = toMs;
    }
  }
}

/** What a step reads of memory, to be decided in smaller steps. */
class FixList implements Fixes, FixSink {
  readonly deviceIds: DeviceId[] = [];
  readonly userIds: UserId[] = [];
  readonly timestampMs: number[] = [];
  readonly latitude: number[] = [];
  readonly longitude: number[] = [];
  readonly accuracyMeters: number[] = [];
  readonly metersPerSecond: number[] = [];
  readonly batteryPercent: number[] = [];

  get count(): number {
    return this.deviceIds.length;
  }

  add(
    deviceId: DeviceId,
    userId: UserId,
    timestampMs: number,
    latitude: number,
    longitude: number,
    accuracyMeters: number,
    metersPerSecond: number,
    batteryPercent: number,
  ): void {
    this.deviceIds.push(deviceId);
    this.userIds.push(userId);
    this.timestampMs.push(timestampMs);
    this.latitude.push(latitude);
    this.longitude.push(longitude);
    this.accuracyMeters.push(accuracyMeters);
    this.metersPerSecond.push(metersPerSecond);
    this.batteryPercent.push(batteryPercent);
  }

  clear(): void {
    const { deviceIds, userIds, timestampMs, latitude, longitude } = this;
    const { accuracyMeters, metersPerSecond, batteryPercent } = this;
    for (const column of [deviceIds, userIds, timestampMs, latitude, longitude]) column.length = 0;
    for (const column of [accuracyMeters, metersPerSecond, batteryPercent]) column.length = 0;
  }
}
