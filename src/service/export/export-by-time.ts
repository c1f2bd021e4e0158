import type { OverlayRows } from "../../archive/read/archive-scan.ts";
import { readRecords } from "../../hot/scan/find-by-device.ts";
import type { RecordKey } from "../../hot/scan/first-records.ts";
import { type DeviceBlocks, NO_DEVICES } from "../../hot/scan/memory-scan.ts";
import { findNext, NEXT_MS_MAX, type ReadUpTo } from "../../hot/scan/next-records.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import { pageReports } from "../../model/page-reports.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { daysWithin, type HistoryStretch, planStretches } from "../queries/history/plan.ts";
import { findWriteFormat } from "./export-formats.ts";
import { CHANGED, type ExportRun, inSteps, readSealed, runCommand } from "./export-source.ts";

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
function firstDays(
  { archive, query, listed, sizes }: ExportRun,
  { days }: HistoryStretch,
  daysMax: number,
): UtcDay[] {
  const { manifest } = archive();
  const isSorted = listed?.size === 1;
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

/** Returns the time at which to continue. */
async function writeSealed(
  run: ExportRun,
  kind: "archive" | "both",
  days: readonly UtcDay[],
  range: TimeRange,
): Promise<number> {
  const { manifest } = run.archive();
  const app = kind === "both" ? run.hot.findApp(run.query.appId) : null;
  const [device] = run.listed?.size === 1 ? run.listed.blocks() : [];
  const scan = app === null ? null : run.hot.lateRows(app, device?.[0] ?? null);
  for (let rest = range; rest.startMs < rest.endMs; ) {
    let window = rest;
    let late: readonly OverlayRows[] = [];
    if (scan !== null) {
      const cut = await scan.window(rest, "asc", run.sizes.lateRowsMax);
      window = cut.range;
      if (cut.late !== null) late = [cut.late];
    }
    const touched = daysWithin(window, days);
    const reading = { manifest, days: touched, range: window, afterDeviceId: null, lastDeviceId: null, late };
    if ((await readSealed(run, reading)) === CHANGED) return rest.startMs;
    rest = { startMs: window.endMs, endMs: rest.endMs };
  }
  return range.endMs;
}

/** A window grows by these factors if it had too few records, or none. */
const GROWTH = 2;
const EMPTY_GROWTH = 64;

/**
 * Writes what memory has of a range; returns the time at which to continue, before the range's end if days were
 * archived meanwhile. A search visits each device, so it finds thousands of records, which are then copied some at a
 * time.
 */
async function writeMemory(run: ExportRun, { startMs, endMs }: TimeRange): Promise<number> {
  const { hot, query, sizes } = run;
  const archive = run.archive();
  const { manifest } = archive;
  const devices = devicesOf(run);
  let last: ReadUpTo | null = null;
  let fromMs = startMs;
  // Devices may come with the newest records first, each older than all before it; so no window is much too long.
  let spanMs = NEXT_MS_MAX;
  while (fromMs < endMs) {
    const range = { startMs: fromMs, endMs: Math.min(endMs, fromMs + spanMs) };
    const scan = hot.scan({ devices, range, userId: query.userId, accuracyMetersMax: null });
    const keys: readonly RecordKey[] = await inSteps(run, findNext(scan, last, sizes.foundRecords));
    let written = 0;
    while (written < keys.length) {
      const some: readonly RecordKey[] = keys.slice(written, written + sizes.pageRecords);
      const page = await inSteps(
        run,
        inOneStep(() => readRecords(scan, some)),
      );
      if (archive.manifest !== manifest) return fromMs;
      if (page === null) break; // A record has passed to another user, so the search starts again.
      await runCommand(run, { kind: "records", batch: pageReports(page) });
      written += some.length;
      const { device, timestampMs } = some.at(-1)!;
      last = { deviceId: device.id, timestampMs };
      fromMs = timestampMs;
    }
    if (archive.manifest !== manifest) return fromMs;
    if (written < keys.length) continue;
    if (keys.length === sizes.foundRecords) spanMs = Math.max(1, GROWTH * (fromMs - range.startMs));
    else {
      fromMs = range.endMs;
      spanMs = Math.min(NEXT_MS_MAX, spanMs * (keys.length === 0 ? EMPTY_GROWTH : GROWTH));
    }
  }
  return endMs;
}

function devicesOf({ hot, query, listed }: ExportRun): DeviceBlocks {
  if (listed !== null) return listed;
  const app = hot.findApp(query.appId);
  if (app === null) return NO_DEVICES;
  const { userId } = query;
  return userId === null ? app : app.users.devicesWithRecords(() => hot.dictionary.findUser(userId));
}
