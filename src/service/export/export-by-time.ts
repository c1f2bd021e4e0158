import { readRecords } from "../../hot/scan/find-by-device.ts";
import type { RecordKey } from "../../hot/scan/first-records.ts";
import { findNext, NEXT_MS_MAX, type ReadUpTo } from "../../hot/scan/next-records.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import type { DeviceAlias } from "../../model/device-alias.ts";
import { pageReports } from "../../model/page-reports.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { daysWithin, type HistoryStretch, planStretches } from "../queries/history/plan.ts";
import { devicesInMemory, lateRowsOf } from "./export-devices.ts";
import { findWriteFormat } from "./export-formats.ts";
import {
  CHANGED,
  type ExportRun,
  inSteps,
  isStill,
  readSealed,
  runCommand,
  whereabouts,
} from "./export-source.ts";

/*
 * Exports all records in order of time, stretch after stretch. Each stretch reads the stores as they are at that
 * moment.
 */

/** The most parts that one statement reads if they are already in order. */
const PARTS_MAX = 512;

export async function exportByTime(run: ExportRun): Promise<void> {
  const { hot, query, range } = run;
  let fromMs = range.startMs;
  // Few files make the first piece of a text. Parquet is sent only when all is read, so its reads may be large.
  let daysMax = findWriteFormat(query.format) === null ? PARTS_MAX : 1;
  while (fromMs < range.endMs) {
    const { manifest } = run.archive();
    const [stretch] = planStretches(hot, manifest, { startMs: fromMs, endMs: range.endMs });
    if (stretch === undefined) return;
    if (stretch.kind === "memory") {
      fromMs = await writeMemory(run, stretch.range);
    } else {
      const days = firstDays(run, stretch, daysMax);
      daysMax = Math.min(2 * daysMax, PARTS_MAX);
      const endMs = Math.min(stretch.range.endMs, utcDayStartMs(nextUtcDay(days.at(-1)!)));
      fromMs = await writeSealed(run, stretch.kind, days, { startMs: stretch.range.startMs, endMs });
    }
  }
}

/** The first days of a stretch, as many as may be read at once. */
function firstDays(run: ExportRun, { days }: HistoryStretch, daysMax: number): UtcDay[] {
  const { query, listed, sizes } = run;
  const { manifest } = run.archive();
  const isSorted = listed?.length === 1 && aliasesOf(run).length === 0;
  const first: UtcDay[] = [];
  let rows = 0;
  let parts = 0;
  for (const day of days) {
    for (const part of (manifest.days.get(day) ?? manifest.expired.get(day))!.parts) {
      const ofApp = part.apps.get(query.appId);
      if (ofApp === undefined) continue;
      parts++;
      if (!isSorted) rows += ofApp;
    }
    if (first.length > 0 && (first.length >= daysMax || parts > PARTS_MAX || rows > sizes.sortedRowsMax))
      break;
    first.push(day);
  }
  return first;
}

/** The devices that show as others, of those that are exported. */
function aliasesOf({ hot, query, listed }: ExportRun): readonly DeviceAlias[] {
  return query.originals ? [] : hot.aliases(query.appId, listed?.length === 1 ? listed[0]! : null);
}

/** Returns the time at which to continue. */
async function writeSealed(
  run: ExportRun,
  kind: "archive" | "both",
  days: readonly UtcDay[],
  range: TimeRange,
): Promise<number> {
  const { appId, originals } = run.query;
  const at = whereabouts(run);
  const only = run.listed?.length === 1 ? run.listed[0]! : null;
  const scan = kind === "both" ? lateRowsOf(run, only) : null;
  for (let rest = range; rest.startMs < rest.endMs; ) {
    const { range: window, late: rows } =
      scan === null ? { range: rest, late: null } : await scan.window(rest, "asc", run.sizes.lateRowsMax);
    const late = rows === null ? [] : [rows];
    const keys = originals ? null : (run.hot.hiddenRows(appId, only)?.within(window) ?? null);
    const hidden = keys === null ? [] : [keys];
    const touched = daysWithin(window, days);
    const ofAll = { afterDeviceId: null, lastDeviceId: null };
    const aliases = aliasesOf(run);
    const reading = { at, days: touched, range: window, ...ofAll, late, hidden, aliases };
    if ((await readSealed(run, reading)) === CHANGED) return rest.startMs;
    rest = { startMs: window.endMs, endMs: rest.endMs };
  }
  return range.endMs;
}

/** A window grows by these factors if it had too few records, or none. */
const GROWTH = 2;
const EMPTY_GROWTH = 64;

/**
 * Writes what memory has of a range; returns the time at which to continue, before the range's end if records were
 * moved meanwhile. A search visits each device, so it finds thousands of records, which are then copied some at a
 * time.
 */
async function writeMemory(run: ExportRun, { startMs, endMs }: TimeRange): Promise<number> {
  const { hot, query, sizes } = run;
  const at = whereabouts(run);
  const devices = devicesInMemory(run);
  let last: ReadUpTo | null = null;
  let fromMs = startMs;
  // Devices may come with the newest records first, each older than all before it; so no window is much too long.
  let spanMs = NEXT_MS_MAX;
  while (fromMs < endMs) {
    const range = { startMs: fromMs, endMs: Math.min(endMs, fromMs + spanMs) };
    const { userId, originals } = query;
    const scan = hot.scan({ devices, range, userId, accuracyMetersMax: null, originals });
    const keys: readonly RecordKey[] = await inSteps(run, findNext(scan, last, sizes.foundRecords));
    let written = 0;
    while (written < keys.length) {
      const some: readonly RecordKey[] = keys.slice(written, written + sizes.pageRecords);
      const page = await inSteps(
        run,
        inOneStep(() => readRecords(scan, some)),
      );
      if (!isStill(run, at)) return fromMs;
      if (page === null) break; // A record has passed to another user, so the search starts again.
      await runCommand(run, { kind: "records", batch: pageReports(page) });
      written += some.length;
      const { device, timestampMs } = some.at(-1)!;
      last = { deviceId: device.id, timestampMs };
      fromMs = timestampMs;
    }
    if (!isStill(run, at)) return fromMs;
    if (written < keys.length) continue;
    if (keys.length === sizes.foundRecords) spanMs = Math.max(1, GROWTH * (fromMs - range.startMs));
    else {
      fromMs = range.endMs;
      spanMs = Math.min(NEXT_MS_MAX, spanMs * (keys.length === 0 ? EMPTY_GROWTH : GROWTH));
    }
  }
  return endMs;
}
