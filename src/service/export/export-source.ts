import type { Archive } from "../../archive/archive.ts";
import { hasOldParts, type Manifest, type Part, partsOfApp } from "../../archive/manifest.ts";
import type { Masks } from "../../archive/masks.ts";
import type { OverlayRows } from "../../archive/read/archive-scan.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
import type { DeviceAlias } from "../../model/device-alias.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import { findGaps, type GapsDependencies, remaining } from "../queries/history/read-archive.ts";
import type { ExportedDevices } from "./export-devices.ts";
import type { ExportQuery } from "./export-formats.ts";
import type { ExportMaker } from "./maker/export-makers.ts";
import type { Command, Outcome, ReadingRequest } from "./maker/messages.ts";

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
export interface ExportRun extends ExportSources, ExportedDevices {
  readonly query: ExportQuery;
  /** The query's range, from the retention on. */
  readonly range: TimeRange;
  readonly maker: ExportMaker;
  readonly signal: AbortSignal;
}

/** The archive, a correction or an erasure has changed something under a read, which must be planned again. */
export const CHANGED = Symbol("the records have moved");
export type Changed = typeof CHANGED;

/** Where records are: a seal moves them from memory to the archive, a correction within memory. */
export interface Whereabouts {
  readonly manifest: Manifest;
  readonly masks: Masks;
  /** How many steps of the app's corrections there were. */
  readonly moves: number;
}

export function whereabouts({ archive, hot, query }: ExportRun): Whereabouts {
  const { manifest, masks } = archive();
  return { manifest, masks, moves: hot.corrections.find(query.appId)?.moves ?? 0 };
}

export function isStill(run: ExportRun, { manifest, masks, moves }: Whereabouts): boolean {
  const now = whereabouts(run);
  return now.manifest === manifest && now.masks === masks && now.moves === moves;
}

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
  readonly at: Whereabouts;
  readonly days: readonly UtcDay[];
  readonly range: TimeRange;
  readonly afterDeviceId: DeviceId | null;
  readonly lastDeviceId: DeviceId | null;
  readonly late: readonly OverlayRows[];
  /** Keys of archived records to leave out. */
  readonly hidden: readonly OverlayRows[];
  /** Devices that show as others. */
  readonly aliases: readonly DeviceAlias[];
}

/** Has the maker read archived days, from the archive as it was when the read was planned; null if it did. */
export async function readSealed(run: ExportRun, reading: SealedReading): Promise<null | Changed> {
  const { query, listed, pathOf, signal } = run;
  const archive = run.archive();
  const { at, days, range, afterDeviceId, lastDeviceId } = reading;
  const { manifest } = at;
  const selection = await findParts(run, archive, manifest, days);
  if (selection === CHANGED) return CHANGED;
  if (selection.parts.length === 0 && reading.late.length === 0) return isStill(run, at) ? null : CHANGED;
  await sendRows(run, "late", reading.late);
  await sendRows(run, "hidden", reading.hidden);
  if (!isStill(run, at)) {
    // Some of the rows may have moved to parts that this read does not know, or past it.
    await runCommand(run, { kind: "discard" });
    return CHANGED;
  }
  const request: ReadingRequest = {
    appId: query.appId,
    range,
    deviceIds: listed,
    afterDeviceId,
    lastDeviceId,
    userId: query.userId,
    paths: selection.parts.map(({ file }) => pathOf(file)),
    hasOldFiles: hasOldParts(selection.parts),
    mask: at.masks.of(query.appId, days)?.values ?? null,
    aliases: reading.aliases,
    isSorted: listed?.length === 1 && selection.isOnePartADay,
  };
  const { result } = await run.maker.run({ kind: "read", request });
  if (result.ok) return null;
  signal.throwIfAborted();
  if (archive.manifest !== manifest) return CHANGED; // The seal may have deleted its files.
  await archive.recheck(selection.parts, signal);
  const gaps = await findGaps(run, archive, query.appId, days);
  if (gaps.unacknowledged.length > 0) throw new ExportDamagedError(gaps.unacknowledged);
  throw new Error(`The export failed: ${result.error.message}`);
}

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

async function sendRows(run: ExportRun, kind: "late" | "hidden", all: readonly OverlayRows[]): Promise<void> {
  for (const rows of all) {
    const batches = rows.batches()[Symbol.iterator]();
    for (;;) {
      const { done, value } = await inSteps(
        run,
        inOneStep(() => batches.next()),
      );
      if (done === true) break;
      if (value.count > 0) await runCommand(run, { kind, batch: value });
    }
  }
}
