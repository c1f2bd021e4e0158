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
  /** Records of memory that are looked for at once, which costs a look at each device. */
  readonly foundRecords: number;
  /** Records of memory that are copied in one step. */
  readonly pageRecords: number;
  /** Rows of memory that are laid over archived records by one statement. */
  readonly lateRowsMax: number;
  /** Records that one statement sorts. */
  readonly sortedRowsMax: number;
}

/** Steps of some tenths of a millisecond, one of some milliseconds to sort what is found; and what DuckDB sorts. */
export const READING_SIZES: ReadingSizes = {
  foundRecords: 32_768,
  pageRecords: 512,
  lateRowsMax: 16_384,
  sortedRowsMax: 500_000,
};

/** What an export reads from. */
export interface ExportSources extends GapsDependencies {
  readonly hot: HotStore;
  readonly archive: () => Archive;
  readonly scheduler: Scheduler;
  readonly sizes: ReadingSizes;
  /** Where DuckDB finds a file of the archive. */
  readonly pathOf: (file: string) => string;
}

/** An export under way. */
export interface ExportRun extends ExportSources {
  readonly query: ExportQuery;
  /** The query's, without what is past the retention. */
  readonly range: TimeRange;
  /** Those that the query names; null for all. */
  readonly listed: ListedDevices | null;
  readonly maker: ExportMaker;
  readonly signal: AbortSignal;
}

/** What a seal has changed under a reading: it is planned anew. */
export const CHANGED = Symbol("the archive has changed");
export type Changed = typeof CHANGED;

/** Work on memory, in turns with that of others. */
export async function inSteps<Value>(
  { scheduler, query, signal }: ExportRun,
  work: Steps<Value>,
): Promise<Value> {
  return scheduler.runAtOnce(query.appId, signal, work);
}

/** Has the maker do a command that can only fail by a fault of ours. */
export async function runCommand({ maker, signal }: ExportRun, command: Command): Promise<Outcome> {
  signal.throwIfAborted();
  const outcome = await maker.run(command);
  if (!outcome.result.ok) throw new Error(`The export failed: ${outcome.result.error.message}`);
  return outcome;
}

/** Sealed days, and rows of memory that lie over their records. */
export interface SealedReading {
  readonly manifest: Manifest;
  readonly days: readonly UtcDay[];
  readonly range: TimeRange;
  readonly afterDeviceId: DeviceId | null;
  readonly lastDeviceId: DeviceId | null;
  readonly late: readonly OverlayRows[];
}

/** Has the maker read records of sealed days, as the archive was when the reading was planned. */
export async function readSealed(run: ExportRun, reading: SealedReading): Promise<ExportProgress | Changed> {
  const { query, listed, pathOf, signal } = run;
  const archive = run.archive();
  const { manifest, days, range, afterDeviceId, lastDeviceId } = reading;
  const found = await findParts(run, archive, manifest, days);
  if (found === CHANGED) return CHANGED;
  await sendLate(run, reading.late);
  if (archive.manifest !== manifest) {
    // Some of the rows may have left memory for parts that this reading does not know.
    await runCommand(run, { kind: "discard" });
    return CHANGED;
  }
  if (found.parts.length === 0 && reading.late.length === 0) return NOTHING;
  const request: ReadingRequest = {
    appId: query.appId,
    range,
    deviceIds: listed?.ids ?? null,
    afterDeviceId,
    lastDeviceId,
    userId: query.userId,
    paths: found.parts.map(({ file }) => pathOf(file)),
    hasOldFiles: hasOldParts(found.parts),
    isSorted: listed?.size === 1 && found.isOnePartADay,
  };
  const { result, progress } = await run.maker.run({ kind: "read", request });
  if (result.ok) return progress;
  signal.throwIfAborted();
  if (archive.manifest !== manifest) return CHANGED; // Its files may be gone.
  await archive.recheck(found.parts, signal);
  const gaps = await findGaps(run, archive, query.appId, days);
  if (gaps.unacknowledged.length > 0) throw new ExportDamagedError(gaps.unacknowledged);
  throw new Error(`The export failed: ${result.error.message}`);
}

const NOTHING: ExportProgress = { records: 0, last: null };

interface FoundParts {
  readonly parts: readonly Part[];
  readonly isOnePartADay: boolean;
}

/** Parts that have records of the app, each read whole once before it is believed. */
async function findParts(
  run: ExportRun,
  archive: Archive,
  manifest: Manifest,
  days: readonly UtcDay[],
): Promise<FoundParts | Changed> {
  const { appId } = run.query;
  const all = partsOfApp(manifest, appId, days);
  const isWhole = await archive.verifyChecksums(all.filter(({ file }) => !archive.damaged.has(file)));
  if (archive.manifest !== manifest) return CHANGED;
  const suspects = all.filter(({ file }) => archive.damaged.has(file));
  if (!isWhole || suspects.length > 0) await archive.recheck(suspects, run.signal); // Somebody may have put them back.
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
