import type { ArchiveScan, OverlayRows } from "../../archive/read/archive-scan.ts";
import { ok } from "../../lib/result.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayOf, utcDayStartMs } from "../../model/time/utc-day.ts";
import { pickReports } from "../../wal/batch-parts.ts";
import type { Caller } from "../queries/find-device.ts";
import { touchesSealed } from "../queries/history/plan.ts";
import {
  type ArchiveDependencies,
  type ArchiveReading,
  createReadArchive,
} from "../queries/history/read-archive.ts";
import type { Ingest } from "./ingest.ts";

/*
 * Stores batches and counts exactly what is new. Memory does not know archived records, so the archive is queried
 * before the batch is stored: afterwards a seal could have moved the batch itself there.
 */

export interface ExactIngestDependencies extends ArchiveDependencies {
  readonly ingest: Ingest;
}

/** An `Ingest` for one caller, in the order of its calls. It stores nothing of a batch if the archive can't be read. */
export type ExactIngest = (caller: Caller) => Ingest;

/** Days without reports that a query may span; their records are not read. */
const GAP_DAYS_MAX = 30;
/** Reports that are handed to DuckDB in one step: some milliseconds of the event loop. */
const ASKED_ROWS = 2000;

export function createExactIngest(dependencies: ExactIngestDependencies): ExactIngest {
  const { hot, archive, ingest } = dependencies;
  const readArchive = createReadArchive(dependencies);

  /** Finds reports of a range of days whose records are not in memory, and what the archive has of them. */
  async function findKnown(appId: AppId, batch: ReportBatch, range: TimeRange, caller: Caller) {
    return readArchive(appId, range, caller, async (reading): Promise<Known> => {
      const rows = hot.rowsWithoutRecord(appId, batch, range);
      return { rows, repeats: await askArchive(appId, batch, rows, range, reading) };
    });
  }

  /** Stores a batch; if the archive must be queried, once the batch before it is in memory. */
  async function take(appId: AppId, batch: ReportBatch, caller: Caller, before: Turn, turn: OpenTurn) {
    await before.begun;
    const ranges = rangesOf(batch).filter((range) => touchesSealed(archive().manifest, range));
    if (ranges.length === 0) return begin(appId, batch, turn);
    await before.ended;
    const unknown = new Set<number>();
    const repeats = new Map<number, boolean>();
    for (const range of ranges) {
      const known = await findKnown(appId, batch, range, caller);
      if (!known.ok) return known;
      for (const row of known.value.rows) unknown.add(row);
      for (const [row, isRepeat] of known.value.repeats) repeats.set(row, isRepeat);
    }
    const result = await begin(appId, batch, turn);
    if (!result.ok) return result;
    let { created, repeated } = result.value;
    for (const row of result.value.createdLate) {
      // A seal has moved to the archive what memory had when the archive was queried.
      const wasInMemory = isWithin(ranges, batch.timestampMs[row]!) && !unknown.has(row);
      if (!wasInMemory && !repeats.has(row)) continue;
      created--;
      if (repeats.get(row) !== false) repeated++;
    }
    return ok({ ...result.value, created, repeated });
  }

  function begin(appId: AppId, batch: ReportBatch, turn: OpenTurn): ReturnType<Ingest> {
    const result = ingest(appId, batch);
    turn.begin();
    return result;
  }

  return (caller) => {
    let before: Turn = { begun: Promise.resolve(), ended: Promise.resolve() };
    return (appId, batch) => {
      const { promise: begun, resolve } = Promise.withResolvers<void>();
      const result = take(appId, batch, caller, before, { begin: resolve });
      const ended = result.then(
        () => resolve(),
        () => resolve(),
      );
      before = { begun, ended };
      return result;
    };
  };
}

/** The progress of a batch: when it is on its way to the log, and when it is in memory or has failed. */
interface Turn {
  readonly begun: Promise<void>;
  readonly ended: Promise<void>;
}

interface OpenTurn {
  begin(): void;
}

/** Reports without a record in memory: those that the archive has, and whether they repeat it. */
interface Known {
  readonly rows: readonly number[];
  readonly repeats: ReadonlyMap<number, boolean>;
}

export async function askArchive(
  appId: AppId,
  batch: ReportBatch,
  rows: readonly number[],
  range: TimeRange,
  { session, partsOfDay }: Pick<ArchiveReading, "session" | "partsOfDay" | "stretches">,
): Promise<ReadonlyMap<number, boolean>> {
  const repeats = new Map<number, boolean>();
  const days = [...new Set(rows.map((row) => utcDayOf(batch.timestampMs[row]!)))].sort((a, b) => a - b);
  const parts = days.flatMap((day) => partsOfDay(day));
  if (parts.length === 0) return repeats;
  const keyOf = (deviceId: string, timestampMs: number) => `${timestampMs} ${deviceId}`;
  const rowOf = new Map(
    rows.map((row) => [keyOf(batch.texts[batch.device[row]!]!, batch.timestampMs[row]!), row]),
  );
  const late: OverlayRows = {
    days,
    *batches() {
      for (let from = 0; from < rows.length; from += ASKED_ROWS)
        yield { ...pickReports(batch, rows.slice(from, from + ASKED_ROWS)), fixes: null };
    },
  };
  const scan: ArchiveScan = {
    ...{ appId, deviceId: null, userId: null, accuracyMetersMax: null },
    ...{ range, parts, late },
  };
  for await (const chunk of session.repeats(scan))
    for (let index = 0; index < chunk.count; index++) {
      const row = rowOf.get(keyOf(chunk.deviceIds[index]!, chunk.timestampMs[index]!))!;
      repeats.set(row, chunk.isRepeat[index] === 1);
    }
  return repeats;
}

/** Ranges with the batch's days, each without a long gap. */
export function rangesOf({ count, timestampMs }: ReportBatch): TimeRange[] {
  const days = new Set<UtcDay>();
  for (let row = 0; row < count; row++) days.add(utcDayOf(timestampMs[row]!));
  const ranges: { startMs: number; endMs: number; lastDay: UtcDay }[] = [];
  for (const day of [...days].sort((a, b) => a - b)) {
    const endMs = utcDayStartMs(nextUtcDay(day));
    const last = ranges.at(-1);
    if (last !== undefined && day - last.lastDay <= GAP_DAYS_MAX)
      Object.assign(last, { endMs, lastDay: day });
    else ranges.push({ startMs: utcDayStartMs(day), endMs, lastDay: day });
  }
  return ranges;
}

function isWithin(ranges: readonly TimeRange[], timestampMs: number): boolean {
  return ranges.some(({ startMs, endMs }) => timestampMs >= startMs && timestampMs < endMs);
}
