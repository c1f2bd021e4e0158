import type { LateRows } from "../../archive/read/archive-scan.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { daysWithin, type HistoryStretch, planStretches } from "../queries/history/plan.ts";
import { findWriteFormat } from "./export-formats.ts";
import { writeMemory } from "./export-memory.ts";
import { CHANGED, type ExportRun, readSealed } from "./export-source.ts";

/*
 * All records in order of time: stretch after stretch, as the stores are when the export comes to it.
 */

/** So many parts are read by one statement at most, where they are in order as they lie. */
const PARTS_MAX = 512;

export async function exportByTime(run: ExportRun): Promise<void> {
  const { hot, query, range } = run;
  let fromMs = range.startMs;
  // The first piece of a text is made of few files. Parquet is sent when all is read, and its readings are joined then.
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

/** As many as may be read at once. */
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

/** Returns from when to go on. */
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
    let late: readonly LateRows[] = [];
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
