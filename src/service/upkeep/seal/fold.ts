import type { Archive } from "../../../archive/archive.ts";
import type { Part, SealedDay } from "../../../archive/manifest.ts";
import type { PartWriter } from "../../../archive/write/part-writer.ts";
import type { DayRows } from "../../../archive/write/row-stager.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import type { Sealing } from "../../../hot/sealing.ts";
import { forEachAtOnce } from "../../../lib/schedule/semaphore.ts";
import { nextTurn } from "../../../lib/schedule/timers.ts";
import type { UtcDay } from "../../../model/time/utc-day.ts";
import type { RetentionPlan } from "./plan.ts";

/** The result of folding days into the archive. It takes effect when a manifest names it. */
export interface Folded {
  readonly days: ReadonlyMap<UtcDay, SealedDay>;
  /** The new checkpoint. */
  readonly latest: readonly Part[] | null;
  readonly written: readonly Part[];
  /** Files that belong to the archive only until the manifest is swapped. */
  readonly replaced: readonly Part[];
  readonly blocked: readonly UtcDay[];
  readonly records: number;
  /** The entry of the log up to which days are covered now. */
  readonly sequence: number;
}

export interface SealProgress {
  /** Records written to files so far, and their total. */
  readonly records: number;
  readonly recordsTotal: number;
}

export interface FoldDependencies {
  readonly hot: Pick<HotStore, "daysInMemory">;
  readonly archive: Archive;
  /** Entries of the log after this one may be missing from memory, so no day is covered further. */
  readonly readUpTo: number;
  /**
   * Whether memory has the newest archived record of every device; otherwise the next start must read all parts again.
   */
  readonly hasAllNewest: boolean;
  /** Opens a writer for this seal, which closes it. */
  readonly openWriter: (signal: AbortSignal) => Promise<PartWriter>;
  /** Days that are folded concurrently: each waits for a disk and a thread of DuckDB in turn. */
  readonly daysAtOnce: number;
}

export interface FoldRequest {
  readonly sealing: Sealing;
  readonly days: readonly UtcDay[];
  readonly plan: RetentionPlan;
  /** Devices without a newer record are not in the checkpoint. */
  readonly oldestMs: number;
  readonly signal: AbortSignal;
  onProgress(progress: SealProgress): void;
}

/** Writes new parts for the days in memory, and the checkpoint. On failure it leaves no files. */
export async function foldDays(dependencies: FoldDependencies, request: FoldRequest): Promise<Folded> {
  const { hot, archive, readUpTo, hasAllNewest, openWriter, daysAtOnce } = dependencies;
  const { sealing, days, plan, oldestMs, signal, onProgress } = request;
  const { manifest } = archive;
  const sequence = Math.min(sealing.sequence, readUpTo);
  // The checkpoint has records of the days too, so a deletion requires a new one.
  if (days.length + plan.deleted.size === 0) {
    const nothing = { days: new Map(), written: [], replaced: [], blocked: [], records: 0 };
    return { ...nothing, latest: manifest.latest, sequence };
  }
  const counts = new Map(hot.daysInMemory().map(({ day, records }) => [day, records]));
  const recordsTotal = days.reduce((sum, day) => sum + (counts.get(day) ?? 0), 0);
  const writer = await openWriter(signal);
  const breakOff = () => writer.breakOff(); // A running statement could take seconds.
  signal.addEventListener("abort", breakOff);
  const seal = manifest.seal + 1;
  const onRecords = (records: number) => onProgress({ records, recordsTotal });
  const folding = new DayFolding({ archive, writer, sealing, seal, sequence, signal, onRecords });
  const newest: Part[] = [];
  try {
    const beforeOf = (day: UtcDay) => manifest.days.get(day) ?? plan.restored.get(day) ?? NOTHING_SEALED;
    const fold = (day: UtcDay) => folding.fold(day, beforeOf(day));
    const isLarge = (day: UtcDay) =>
      beforeOf(day).parts.reduce((sum, { rows }) => sum + rows, counts.get(day) ?? 0) > DAY_ROWS_BESIDE_MAX;
    await forEachAtOnce(
      days.filter((day) => !isLarge(day)),
      daysAtOnce,
      fold,
    );
    await forEachAtOnce(days.filter(isLarge), 1, fold);
    if (hasAllNewest) {
      await writer.writeLatest(
        sequence,
        paced(sealing.newest(oldestMs, new Set(folding.days.keys()))),
        async (part) => {
          newest.push(await archive.writePart({ day: "latest", seal, index: newest.length }, part));
        },
      );
    }
  } catch (error) {
    await archive.discard([...folding.written, ...newest]);
    throw error;
  } finally {
    signal.removeEventListener("abort", breakOff);
    await writer.close();
  }
  const { days: folded, written, blocked, records } = folding;
  const replaced = [...folding.replaced, ...(manifest.latest ?? [])];
  return {
    days: new Map([...folded].sort(([a], [b]) => a - b)),
    latest: hasAllNewest ? newest : null,
    written,
    replaced,
    blocked,
    records,
    sequence,
  };
}

/** Days of more rows are folded alone: the writer's memory suffices to sort one of them. */
const DAY_ROWS_BESIDE_MAX = 100_000;

const NOTHING_SEALED: SealedDay = { sequence: 0, parts: [], lost: [] };

/** The context shared by all days. */
interface FoldContext {
  readonly archive: Archive;
  readonly writer: PartWriter;
  readonly sealing: Sealing;
  /** The number of this seal. */
  readonly seal: number;
  readonly sequence: number;
  readonly signal: AbortSignal;
  readonly onRecords: (records: number) => void;
}

/** Folds days, and collects the results. */
class DayFolding {
  readonly days = new Map<UtcDay, SealedDay>();
  readonly written: Part[] = [];
  readonly replaced: Part[] = [];
  readonly blocked: UtcDay[] = [];
  records = 0;
  readonly #context: FoldContext;

  constructor(context: FoldContext) {
    this.#context = context;
  }

  /** Merges the day's records in memory with the archived ones. A day with a damaged part is reported and skipped. */
  async fold(day: UtcDay, before: SealedDay): Promise<void> {
    const { archive, writer, sealing, seal, signal } = this.#context;
    const newParts: Part[] = [];
    let dayRecords = 0;
    const sequence = Math.max(before.sequence, this.#context.sequence);
    try {
      const rows = this.#counted(sealing.rows(day), (records) => {
        dayRecords += records;
      });
      const request = { day, sequence, sequenceBefore: before.sequence, parts: before.parts, rows };
      const gone = await writer.fold(request, async (part) => {
        newParts.push(await archive.writePart({ day, seal, index: newParts.length }, part));
      });
      const unchanged = before.parts.filter((part) => !gone.replaced.includes(part));
      this.days.set(day, { sequence, parts: [...unchanged, ...newParts], lost: before.lost });
      this.written.push(...newParts);
      this.replaced.push(...gone.replaced);
    } catch (error) {
      await archive.discard(newParts);
      signal.throwIfAborted();
      await archive.examine(before.parts, true);
      if (!before.parts.some(({ file }) => archive.damaged.has(file))) throw error;
      // Its records stay in memory and in the log until the day can be read or is acknowledged as lost.
      this.blocked.push(day);
      this.records -= dayRecords;
    }
  }

  async *#counted(rows: Iterable<DayRows>, onDayRecords: (records: number) => void): AsyncGenerator<DayRows> {
    const { signal, onRecords } = this.#context;
    for (const row of rows) {
      signal.throwIfAborted();
      this.records += row.batch.count;
      onDayRecords(row.batch.count);
      onRecords(this.records);
      if (row.batch.count > 0) yield row;
      await nextTurn();
    }
  }
}

async function* paced(rows: Iterable<DayRows>): AsyncGenerator<DayRows> {
  for (const row of rows) {
    yield row;
    await nextTurn();
  }
}
