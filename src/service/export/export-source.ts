import type { Archive } from "../../archive/archive.ts";
import { hasOldParts, type Manifest, type Part, partsOfApp } from "../../archive/manifest.ts";
import type { OverlayRows } from "../../archive/read/archive-scan.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import { findGaps, type GapsDependencies, remaining } from "../queries/history/read-archive.ts";
import type { ListedDevices } from "./export-devices.ts";
import type { ExportQuery } from "./export-formats.ts";
import type { ExportMaker } from "./maker/export-makers.ts";
import type { Command, ExportProgress, Outcome, ReadingRequest } from "./maker/messages.ts";

/** An answer that lacks records which no operator has acknowledged as lost. */
export class ExportDamagedError extends Error {
  override readonly name = "ExportDamagedError";
  readonly days: readonly string[];

  constructor(days: readonly string[]) {
    super(`The archive has lost records of ${days.join(", ")}`);
    this.days = days;
  }
}

/** How much is read at once. */
export interface ReadingSizes {
  /** Records of memory in one search, which visits each device. */
  readonly foundRecords: number;
  /** Records of memory that are copied in one step. */
  readonly pageRecords: number;
  /** Rows of memory that one statement lays over archived records. */
  readonly lateRowsMax: number;
  /** Records that one statement sorts. */
  readonly sortedRowsMax: number;
}

/** Steps take tenths of a millisecond, and sorting the found records some milliseconds. */
export const READING_SIZES: ReadingSizes = {
  foundRecords: 32_768,
  pageRecords: 512,
  lateRowsMax: 16_384,
  sortedRowsMax: 500_000,
};

export interface ExportSources extends GapsDependencies {
  readonly hot: HotStore;
  readonly archive: () => Archive;
  readonly scheduler: Scheduler;
  readonly sizes: ReadingSizes;
  /** The path by which DuckDB opens a file of the archive. */
  readonly pathOf: (file: string) => string;
}

/** A running export. */
export interface ExportRun extends ExportSources {
  readonly query: ExportQuery;
  /** The query's range, from the retention on. */
  readonly range: TimeRange;
  /** The devices of the query; null for all. */
  readonly listed: ListedDevices | null;
  readonly maker: ExportMaker;
  readonly signal: AbortSignal;
}

/** The archive has changed under a read, which must be planned again. */
export const CHANGED = Symbol("the archive has changed");
export type Changed = typeof CHANGED;

/** Works on memory in steps, in turns with other owners. */
export async function inSteps<Value>(
  { scheduler, query, signal }: ExportRun,
  work: Steps<Value>,
): Promise<Value> {
  return scheduler.runAtOnce(query.appId, signal, work);
}

/** Runs a command of the maker that fails only by a bug. */
export async function runCommand({ maker, signal }: ExportRun, command: Command): Promise<Outcome> {
  signal.throwIfAborted();
  const outcome = await maker.run(command);
  if (!outcome.result.ok) throw new Error(`The export failed: ${outcome.result.error.message}`);
  return outcome;
}

/** Archived days, and rows of memory that lie over their records. */
export interface SealedReading {
  readonly manifest: Manifest;
  readonly days: readonly UtcDay[];
  readonly range: TimeRange;
  readonly afterDeviceId: DeviceId | null;
  readonly lastDeviceId: DeviceId | null;
  readonly late: readonly OverlayRows[];
}

/** Has the maker read records of archived days, from the archive as it was when the read was planned. */
export async function readSealed(run: ExportRun, reading: SealedReading): Promise<ExportProgress | Changed> {
  const { query, listed, pathOf, signal } = run;
  const archive = run.archive();
  const { manifest, days, range, afterDeviceId, lastDeviceId } = reading;
  const selection = await findParts(run, archive, manifest, days);
  if (selection === CHANGED) return CHANGED;
  await sendLate(run, reading.late);
  if (archive.manifest !== manifest) {
    // Some of the rows may have moved to parts that this read does not know.
    await runCommand(run, { kind: "discard" });
    return CHANGED;
  }
  if (selection.parts.length === 0 && reading.late.length === 0) return NOTHING;
  const request: ReadingRequest = {
    appId: query.appId,
    range,
    deviceIds: listed?.ids ?? null,
    afterDeviceId,
    lastDeviceId,
    userId: query.userId,
    paths: selection.parts.map(({ file }) => pathOf(file)),
    hasOldFiles: hasOldParts(selection.parts),
    isSorted: listed?.size === 1 && selection.isOnePartADay,
  };
  const { result, progress } = await run.maker.run({ kind: "read", request });
  if (result.ok) return progress;
  signal.throwIfAborted();
  if (archive.manifest !== manifest) return CHANGED; // The seal may have deleted its files.
  await archive.recheck(selection.parts, signal);
  const gaps = await findGaps(run, archive, query.appId, days);
  if (gaps.unacknowledged.length > 0) throw new ExportDamagedError(gaps.unacknowledged);
  throw new Error(`The export failed: ${result.error.message}`);
}

const NOTHING: ExportProgress = { records: 0, last: null };

interface PartSelection {
  readonly parts: readonly Part[];
  readonly isOnePartADay: boolean;
}

/** Parts that have records of the app; each is checked once as a whole before it is trusted. */
async function findParts(
  run: ExportRun,
  archive: Archive,
  manifest: Manifest,
  days: readonly UtcDay[],
): Promise<PartSelection | Changed> {
  const { appId } = run.query;
  const all = partsOfApp(manifest, appId, days);
  const isWhole = await archive.verifyChecksums(all.filter(({ file }) => !archive.damaged.has(file)));
  if (archive.manifest !== manifest) return CHANGED;
  const suspects = all.filter(({ file }) => archive.damaged.has(file));
  if (!isWhole || suspects.length > 0) await archive.recheck(suspects, run.signal); // They may have been restored.
  const gaps = await findGaps(run, archive, appId, days);
  if (archive.manifest !== manifest) return CHANGED;
  if (gaps.unacknowledged.length > 0) throw new ExportDamagedError(gaps.unacknowledged);
  const isOnePartADay = days.every((day) => partsOfApp(manifest, appId, [day]).length <= 1);
  return { parts: remaining(all, gaps), isOnePartADay };
}

async function sendLate(run: ExportRun, late: readonly OverlayRows[]): Promise<void> {
  for (const rows of late) {
    const batches = rows.batches()[Symbol.iterator]();
    for (;;) {
      const { done, value } = await inSteps(
        run,
        inOneStep(() => batches.next()),
      );
      if (done === true) break;
      if (value.count > 0) await runCommand(run, { kind: "late", batch: value });
    }
  }
}
