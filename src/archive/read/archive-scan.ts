import { dirname } from "node:path";
import { assert } from "../../lib/assert.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { ResponseKind } from "../../model/location-fields.ts";
import type { RowBatch } from "../../model/report-batch.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { parseDayFolder } from "../archive-files.ts";
import type { Part } from "../manifest.ts";
import type { UpperRows } from "../overlay-sql.ts";

/*
 * What a query asks of the archive, and which days and parts have to be read for it.
 */

/** Which records of the sealed days a query is about. */
export interface ArchiveScan {
  readonly appId: AppId;
  /** One device, or null for all of the app. */
  readonly deviceId: DeviceId | null;
  /** Only records of this user, or null for all. */
  readonly userId: UserId | null;
  readonly range: TimeRange;
  /** Leaves out records whose horizontal accuracy is greater; those without one stay. */
  readonly accuracyMetersMax: number | null;
  /** The files to read; each lies in the folder of its day. */
  readonly parts: readonly Part[];
  /**
   * Rows of memory that lie over the files' records, already those of the app, the device and the range. The user
   * and the accuracy are looked at after they are laid over.
   */
  readonly late: LateRows | null;
  /** The tables that hold these rows, once they are filled. */
  readonly upper?: UpperRows | null;
  /** The response that shows the records: a page may leave out what it does not show. Without it, all is read. */
  readonly shownIn?: ResponseKind;
}

/** Rows of memory that lie over archived records. */
export interface LateRows {
  /** Days that may have any, in order. */
  readonly days: readonly UtcDay[];
  /** All of them, a few thousand at a time. */
  batches(): Iterable<RowBatch>;
  /**
   * Which rows these are, of all that may be late, and as of when: another text whenever `batches` may give others than
   * before, as long as the process runs. Absent if that can't be told.
   */
  version?(): string;
}

/** What there is to read of one UTC day. */
export interface ScanDay {
  readonly day: UtcDay;
  readonly parts: readonly Part[];
  readonly hasLate: boolean;
  /** How many records of the day the files hold, of the app as a whole. */
  readonly appRows: number;
  /** How many records match; null if only reading tells. */
  readonly matching: number | null;
}

/** The days of a scan, in order of time. */
export function scanDays(scan: ArchiveScan): ScanDay[] {
  const parts = new Map<UtcDay, Part[]>();
  for (const part of scan.parts) {
    const day = parseDayFolder(dirname(part.file));
    assert(day !== null, "a part lies in the folder of its day");
    const ofDay = parts.get(day);
    if (ofDay === undefined) parts.set(day, [part]);
    else ofDay.push(part);
  }
  const late = new Set(scan.late?.days);
  return [...new Set([...parts.keys(), ...late])]
    .sort((a, b) => a - b)
    .map((day) => scanDay(scan, day, parts.get(day) ?? [], late.has(day)));
}

function scanDay(scan: ArchiveScan, day: UtcDay, parts: readonly Part[], hasLate: boolean): ScanDay {
  const appRows = parts.reduce((rows, { apps }) => rows + (apps.get(scan.appId) ?? 0), 0);
  const isTold = !hasLate && isUnfiltered(scan) && holdsDay(scan.range, day);
  return { day, parts, hasLate, appRows, matching: isTold ? appRows : null };
}

function isUnfiltered({ deviceId, userId, accuracyMetersMax }: ArchiveScan): boolean {
  return deviceId === null && userId === null && accuracyMetersMax === null;
}

function holdsDay({ startMs, endMs }: TimeRange, day: UtcDay): boolean {
  return startMs <= utcDayStartMs(day) && endMs >= utcDayStartMs(nextUtcDay(day));
}

/** The part of a range from the first to the last of some days, which may be in either order. */
export function rangeOfDays({ startMs, endMs }: TimeRange, days: readonly ScanDay[]): TimeRange {
  const [one, other] = [days[0]!.day, days.at(-1)!.day];
  return {
    startMs: Math.max(startMs, utcDayStartMs(Math.min(one, other) as UtcDay)),
    endMs: Math.min(endMs, utcDayStartMs(nextUtcDay(Math.max(one, other) as UtcDay))),
  };
}
