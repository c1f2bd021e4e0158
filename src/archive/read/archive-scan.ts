import { dirname } from "node:path";
import { assert } from "../../lib/assert.ts";
import type { DeviceAlias } from "../../model/device-alias.ts";
import type { FieldChoice } from "../../model/field-choice.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { RowBatch } from "../../model/report-batch.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { parseDayFolder } from "../archive-files.ts";
import type { Part } from "../manifest.ts";
import type { Mask, Masks } from "../masks.ts";
import type { UpperRows } from "../overlay-sql.ts";

// What a query reads from the archive, and the days and parts that contain it.

/** Which archived records a query reads. */
export interface ArchiveScan {
  readonly appId: AppId;
  /** One device, or null for all of the app. */
  readonly deviceId: DeviceId | null;
  /** Only records of this user; null for all. */
  readonly userId: UserId | null;
  readonly range: TimeRange;
  /** Excludes records whose horizontal accuracy is greater; records without one pass. */
  readonly accuracyMetersMax: number | null;
  /** The files to read, each in the folder of its day. */
  readonly parts: readonly Part[];
  /**
   * Late rows to merge into the files' records, already limited to the app, the device and the range. The user and the
   * accuracy are compared after merging.
   */
  readonly late: OverlayRows | null;
  /** The tables that contain these rows, once they are filled. */
  readonly upper?: UpperRows | null;
  /** Keys of records to leave out, as rows without values; undefined or null if there are none. */
  readonly hidden?: HiddenKeys | null;
  /** The table that contains these keys, once it is filled. */
  readonly hiddenTable?: string | null;
  /**
   * Devices whose records show as those of others: of the app, or of those that show as the scan's device. Files, late
   * rows and hidden keys name devices as they reported; hidden keys also leave out what shows with their device. If
   * undefined or empty, all show as reported.
   */
  readonly aliases?: readonly DeviceAlias[];
  /** What erasures mask of the files' records; set by the session. */
  readonly mask?: Mask | null;
  /** The fields that the answer shows: a page may skip columns of others. If undefined, all are read. */
  readonly fields?: FieldChoice;
}

/** Late rows from memory, to merge into archived records. */
export interface OverlayRows {
  /** Days that may have late rows, sorted. */
  readonly days: readonly UtcDay[];
  /** All rows, a few thousand at a time. */
  batches(): Iterable<RowBatch>;
  /**
   * Identifies these rows and their state: differs whenever `batches()` may give others than before, as long as the
   * process runs. Undefined if that is not known.
   */
  version?(): string;
}

/** Keys of records to leave out. */
export interface HiddenKeys extends OverlayRows {
  /** The instants of a device, sorted; null if it has none. If undefined, statements leave the records out. */
  readonly timesOf?: (deviceId: DeviceId) => Float64Array | null;
}

/** What a scan reads of one UTC day. */
export interface ScanDay {
  readonly day: UtcDay;
  readonly parts: readonly Part[];
  readonly hasLate: boolean;
  /** Whether records of the day are left out. */
  readonly hasHidden: boolean;
  /** Whether the files may have records that are masked. */
  readonly isMasked: boolean;
  /** How many records of the app the day's files contain. */
  readonly appRows: number;
  /** How many records match; null if that is known only after reading. */
  readonly matching: number | null;
}

/** The scan without what is masked now. */
export function withMask(scan: ArchiveScan, masks: Masks): ArchiveScan {
  const mask = masks.of(scan.appId, scan.parts.map(dayOf));
  return mask === null ? scan : { ...scan, mask };
}

function dayOf({ file }: Part): UtcDay {
  const day = parseDayFolder(dirname(file));
  assert(day !== null, "a part lies in the folder of its day");
  return day;
}

/** The days of a scan, sorted. */
export function scanDays(scan: ArchiveScan): ScanDay[] {
  const parts = new Map<UtcDay, Part[]>();
  for (const part of scan.parts) {
    const day = dayOf(part);
    const ofDay = parts.get(day);
    if (ofDay === undefined) parts.set(day, [part]);
    else ofDay.push(part);
  }
  const late = new Set(scan.late?.days);
  const hidden = new Set(scan.hidden?.days);
  return [...new Set([...parts.keys(), ...late])]
    .sort((a, b) => a - b)
    .map((day) => scanDay(scan, day, parts.get(day) ?? [], late.has(day), hidden.has(day)));
}

function scanDay(
  scan: ArchiveScan,
  day: UtcDay,
  parts: readonly Part[],
  hasLate: boolean,
  hasHidden: boolean,
): ScanDay {
  const appRows = parts.reduce((rows, { apps }) => rows + (apps.get(scan.appId) ?? 0), 0);
  const isMasked = scan.mask?.days.has(day) === true;
  const isKnown = !hasLate && !hasHidden && !isMasked && isUnfiltered(scan) && holdsDay(scan.range, day);
  return { day, parts, hasLate, hasHidden, isMasked, appRows, matching: isKnown ? appRows : null };
}

/** Whether each record that the files have of the app is one that matches. */
function isUnfiltered(scan: ArchiveScan): boolean {
  const { deviceId, userId, accuracyMetersMax } = scan;
  return deviceId === null && userId === null && accuracyMetersMax === null && !hasAliases(scan);
}

/** Whether any record shows as that of another device. */
export function hasAliases({ aliases = [] }: Pick<ArchiveScan, "aliases">): boolean {
  return aliases.length > 0;
}

function holdsDay({ startMs, endMs }: TimeRange, day: UtcDay): boolean {
  return startMs <= utcDayStartMs(day) && endMs >= utcDayStartMs(nextUtcDay(day));
}

/** A range limited to the days between the first and the last of `days`, which may be in either order. */
export function rangeOfDays({ startMs, endMs }: TimeRange, days: readonly ScanDay[]): TimeRange {
  const [one, other] = [days[0]!.day, days.at(-1)!.day];
  return {
    startMs: Math.max(startMs, utcDayStartMs(Math.min(one, other) as UtcDay)),
    endMs: Math.min(endMs, utcDayStartMs(nextUtcDay(Math.max(one, other) as UtcDay))),
  };
}
