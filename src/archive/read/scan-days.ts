import { dirname } from "node:path";
import { assert } from "../../lib/assert.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { parseDayFolder } from "../archive-files.ts";
import type { Part } from "../manifest.ts";
import type { ArchiveScan } from "./archive-scan.ts";

/** What there is to read of one UTC day. */
export interface ScanDay {
  readonly day: UtcDay;
  readonly parts: readonly Part[];
  readonly hasLate: boolean;
  /** How many records of the day the files hold, of the app as a whole. */
  readonly appRows: number;
  /** How many records match; null where only reading tells. */
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

/** The range from the first to the last of some days, in whichever order, as far as it is asked for. */
export function rangeOfDays({ startMs, endMs }: TimeRange, days: readonly ScanDay[]): TimeRange {
  const [one, other] = [days[0]!.day, days.at(-1)!.day];
  return {
    startMs: Math.max(startMs, utcDayStartMs(Math.min(one, other) as UtcDay)),
    endMs: Math.min(endMs, utcDayStartMs(nextUtcDay(Math.max(one, other) as UtcDay))),
  };
}
