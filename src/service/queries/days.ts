import { findSealed } from "../../archive/manifest.ts";
import { ok, type Result } from "../../lib/result.ts";
import { SharedPool } from "../../lib/schedule/shared-pool.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { masksDay } from "../../model/erasure.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { type LocalDate, localDays, type TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../../model/time/utc-day.ts";
import type { Zone } from "../../model/time/zone.ts";
import { type Caller, findDevice, retainedRange } from "./find-device.ts";
import type { HistoryDependencies, RangeAnswer } from "./history/read-stretches.ts";
import type { PositionBlock, PositionReading, ReadPositions } from "./positions.ts";
import { StopFinder, USUAL_STOP } from "./stops.ts";

/*
 * What a device did on each local day: its reports, distance and stops. Days that no longer change are cached, so a
 * year is read once.
 */

/** A local day with reports. Distance, time in motion and stops are as in the answer for the day's stops. */
export interface DaySummary {
  readonly date: LocalDate;
  readonly reports: number;
  readonly distanceMeters: number;
  readonly movingMs: number;
  readonly stops: number;
  /** The greatest reported speed in meters per second; null if no report has a speed. */
  readonly speedMax: number | null;
  /** Unix ms of the first and the last report. */
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface DaysQuery {
  readonly deviceId: string;
  readonly start: LocalDate;
  /** Included. */
  readonly end: LocalDate;
  readonly zone: Zone;
}

/** Finds the days with reports, oldest first. */
export type DeviceDays = (
  appId: AppId,
  query: DaysQuery,
  caller: Caller,
) => Promise<Result<RangeAnswer<readonly DaySummary[]>, ServiceError>>;

export interface DaysDependencies
  extends Pick<HistoryDependencies, "hot" | "archive" | "clock" | "retention"> {
  readonly readPositions: ReadPositions;
}

/** 90 device-years, for some 20 MB. An app gets a third, and less while other apps have some. */
const REMEMBERED_DAYS_MAX = 32_768;

export function createDeviceDays(dependencies: DaysDependencies): DeviceDays {
  const remembered = new RememberedDays(REMEMBERED_DAYS_MAX);

  return async function deviceDays(appId, { deviceId, start, end, zone }, caller) {
    const device = findDevice(dependencies, appId, deviceId);
    if (!device.ok) return device;
    const days = localDays(start, end, zone).map(({ date, range }) => ({
      date,
      range: retainedRange(dependencies, range),
      key: JSON.stringify([deviceId, zone.name, date]),
      sources: null as string | null,
      summary: undefined as DaySummary | null | undefined,
    }));
    const sourcesOf = createSourcesOf(dependencies, appId, device.value.device.id);
    for (const day of days) {
      day.sources = sourcesOf(day.range);
      if (day.sources !== null) day.summary = remembered.find(appId, day.key, day.sources);
    }
    let isIncomplete = false;
    for (let from = 0; from < days.length; from++) {
      if (days[from]!.summary !== undefined) continue;
      let to = from + 1;
      while (to < days.length && days[to]!.summary === undefined) to++;
      const unread = days.slice(from, to);
      const range = { startMs: unread[0]!.range.startMs, endMs: unread.at(-1)!.range.endMs };
      const query = { deviceId, range, fields: ["speed"] } as const;
      const answer = await dependencies.readPositions(appId, query, caller, () => new DaysReading(unread));
      if (!answer.ok) return answer;
      isIncomplete ||= answer.value.isIncomplete;
      const summaries = new Map(answer.value.value.map((summary) => [summary.date, summary]));
      const sourcesNow = createSourcesOf(dependencies, appId, device.value.device.id);
      for (const day of unread) {
        day.summary = summaries.get(day.date) ?? null;
        // Reports and seals may have arrived since the plan.
        const isSettled = day.sources !== null && day.sources === sourcesNow(day.range);
        if (!isSettled || answer.value.isIncomplete) continue;
        remembered.add(appId, day.key, { sources: day.sources!, summary: day.summary });
      }
      from = to;
    }
    const value = days.flatMap(({ summary }) => summary ?? []);
    return ok({ value, isIncomplete });
  };
}

/**
 * Returns a text that identifies the records of a range, all of whose days are archived: the files of its parts, what
 * is masked in them, and the versions of late rows and corrections. The records are the same if the text is. Null if a
 * day is not archived or not whole.
 */
function createSourcesOf(
  { hot, archive, clock, retention }: DaysDependencies,
  appId: AppId,
  deviceId: DeviceId,
) {
  const { manifest } = archive();
  const inMemory = new Set<UtcDay>(hot.daysInMemory().map(({ day }) => day));
  const retainedMs = retention.startMs(clock.nowMs());
  const erasures = hot.erasures.ofApp(appId);
  return function sourcesOf({ startMs, endMs }: TimeRange): string | null {
    const files: string[] = [`${startMs}`]; // A day that the retention cuts off has fewer records tomorrow.
    if (startMs < retainedMs) return null;
    for (let day = utcDayOf(startMs); day <= utcDayOf(endMs - 1); day = nextUtcDay(day)) {
      const sealed = findSealed(manifest, day);
      if (sealed === undefined) {
        if (inMemory.has(day)) return null;
        continue;
      }
      if (sealed.lost.length > 0) return null;
      if (hot.holdsLate(day)) files.push(hot.lateVersion(day));
      for (const { file, apps } of sealed.parts) if (apps.has(appId)) files.push(file);
      const ofDay = { startMs: utcDayStartMs(day), endMs: utcDayStartMs(nextUtcDay(day)) };
      for (const erasure of erasures)
        if (masksDay(erasure, ofDay, sealed.cleared)) files.push(`less ${erasure.sequence}`);
    }
    const hidden = hot.hiddenRows(appId, deviceId)?.within({ startMs, endMs });
    const aliases = hot.aliases(appId, deviceId);
    return [...files, hidden?.version() ?? "", aliases.length === 0 ? "" : JSON.stringify(aliases)].join();
  };
}

interface RememberedDay {
  readonly sources: string;
  readonly summary: DaySummary | null;
}

/** The most recently requested days by app. An app that has its share gives up its own oldest day, never another's. */
export class RememberedDays {
  readonly #apps = new Map<AppId, Map<string, RememberedDay>>();
  readonly #pool: SharedPool;

  constructor(max: number) {
    this.#pool = new SharedPool(max);
  }

  /** Undefined if the day is not known, or was made from other records. */
  find(appId: AppId, key: string, sources: string): DaySummary | null | undefined {
    const days = this.#apps.get(appId);
    const day = days?.get(key);
    if (days === undefined || day?.sources !== sources) return undefined;
    days.delete(key);
    days.set(key, day); // The last to go.
    return day.summary;
  }

  add(appId: AppId, key: string, day: RememberedDay): void {
    const days = this.#apps.get(appId) ?? new Map<string, RememberedDay>();
    if (!days.delete(key) && !this.#pool.take({ appId, keyId: "" }, 1)) {
      const oldest = days.keys().next();
      if (oldest.done) return; // Other apps have everything.
      days.delete(oldest.value);
    }
    days.set(key, day);
    this.#apps.set(appId, days);
  }
}

/** Cuts positions into local days, and sums up each. */
export class DaysReading implements PositionReading<readonly DaySummary[]> {
  readonly #days: readonly { readonly date: LocalDate; readonly range: TimeRange }[];
  readonly #summaries: DaySummary[] = [];
  #block: PositionBlock | null = null;
  #at = 0;
  #open: OpenDay | null = null;

  /** Days in order; no position lies outside of them. */
  constructor(days: readonly { readonly date: LocalDate; readonly range: TimeRange }[]) {
    this.#days = days;
  }

  add(block: PositionBlock): void {
    this.#block = block;
  }

  *work(): Steps<void> {
    const { count, timestampMs, latitude, longitude, numbers } = this.#block!;
    for (let from = 0; from < count; ) {
      if (timestampMs[from]! >= this.#days[this.#at]!.range.endMs) yield* this.#close();
      while (timestampMs[from]! >= this.#days[this.#at]!.range.endMs) this.#at++;
      const { endMs } = this.#days[this.#at]!.range;
      let to = from + 1;
      while (to < count && timestampMs[to]! < endMs) to++;
      this.#open ??= new OpenDay(timestampMs[from]!);
      yield* this.#open.add({
        count: to - from,
        timestampMs: timestampMs.subarray(from, to),
        latitude: latitude.subarray(from, to),
        longitude: longitude.subarray(from, to),
        numbers: numbers.map((column) => column.subarray(from, to)),
      });
      from = to;
    }
  }

  *end(): Steps<readonly DaySummary[]> {
    yield* this.#close();
    return this.#summaries;
  }

  *#close(): Steps<void> {
    if (this.#open === null) return;
    this.#summaries.push({ date: this.#days[this.#at]!.date, ...(yield* this.#open.end()) });
    this.#open = null;
  }
}

/** A day of which more positions may come. */
class OpenDay {
  readonly #finder = new StopFinder(USUAL_STOP);
  readonly #firstMs: number;
  #lastMs = 0;
  #reports = 0;
  #speedMax: number | null = null;

  constructor(firstMs: number) {
    this.#firstMs = firstMs;
  }

  *add(block: PositionBlock): Steps<void> {
    const [speed] = block.numbers;
    for (let row = 0; row < block.count; row++)
      if (speed![row]! > (this.#speedMax ?? Number.NEGATIVE_INFINITY)) this.#speedMax = speed![row]!;
    this.#reports += block.count;
    this.#lastMs = block.timestampMs[block.count - 1]!;
    this.#finder.add(block);
    yield* this.#finder.work();
  }

  *end(): Steps<Omit<DaySummary, "date">> {
    const { stops, distanceMeters, movingMs } = yield* this.#finder.end();
    return {
      reports: this.#reports,
      distanceMeters,
      movingMs,
      stops: stops.length,
      speedMax: this.#speedMax,
      firstMs: this.#firstMs,
      lastMs: this.#lastMs,
    };
  }
}
