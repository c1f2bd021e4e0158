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

/** What folding days into the archive came to. None of it counts before a manifest names it. */
export interface Folded {
  readonly days: ReadonlyMap<UtcDay, SealedDay>;
  /** The checkpoint from now on. */
  readonly latest: readonly Part[] | null;
  readonly written: readonly Part[];
  /** Files that are no part of the archive once the manifest is swapped. */
  readonly replaced: readonly Part[];
  readonly blocked: readonly UtcDay[];
  readonly records: number;
  /** The entry of the log up to which days are covered now. */
  readonly sequence: number;
}

export interface SealProgress {
  /** Records that left memory for files so far, and of how many. */
  readonly records: number;
  readonly recordsTotal: number;
}

export interface FoldDependencies {
  readonly hot: Pick<HotStore, "daysInMemory">;
  readonly archive: Archive;
  /** Entries of the log after this one may be missing from memory: no day is covered further. */
  readonly readUpTo: number;
  /**
   * Whether memory has the newest sealed record of every device. Where it has not, a seal writes no checkpoint: the
   * next start looks through the parts again.
   */
  readonly hasAllNewest: boolean;
  /** For this seal alone, which closes it. */
  readonly openWriter: (signal: AbortSignal) => Promise<PartWriter>;
  /** Days that are folded side by side: each waits for a disk and a thread of DuckDB in turn. */
  readonly daysAtOnce: number;
}

/** What is folded. */
export interface FoldRequest {
  readonly sealing: Sealing;
  readonly days: readonly UtcDay[];
  readonly plan: RetentionPlan;
  /** Devices with nothing newer are left out of the checkpoint. */
  readonly oldestMs: number;
  readonly signal: AbortSignal;
  onProgress(progress: SealProgress): void;
}

/** Makes new parts of what memory holds of the days, and the checkpoint. What fails leaves no file behind. */
export async function foldDays(dependencies: FoldDependencies, request: FoldRequest): Promise<Folded> {
  const { hot, archive, readUpTo, hasAllNewest, openWriter, daysAtOnce } = dependencies;
  const { sealing, days, plan, oldestMs, signal, onProgress } = request;
  const { manifest } = archive;
  const sequence = Math.min(sealing.sequence, readUpTo);
  // The checkpoint has records of the days too, so it is written anew where one is deleted.
  if (days.length + plan.deleted.size === 0) {
    const nothing = { days: new Map(), written: [], replaced: [], blocked: [], records: 0 };
    return { ...nothing, latest: manifest.latest, sequence };
  }
  const counts = new Map(hot.daysInMemory().map(({ day, records }) => [day, records]));
  const recordsTotal = days.reduce((sum, day) => sum + (counts.get(day) ?? 0), 0);
  const writer = await openWriter(signal);
  const breakOff = () => writer.breakOff(); // A statement under way would take seconds.
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

/** Days of more rows are folded by themselves: the writer has memory to sort one of them. */
const DAY_ROWS_BESIDE_MAX = 100_000;

const NOTHING_SEALED: SealedDay = { sequence: 0, parts: [], lost: [] };

/** What all days are folded with. */
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

/** Folds days, and knows what that came to so far. */
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

  /**
   * Lays what memory has of the day over what is sealed of it. A day with a damaged part stays behind, and is named.
   */
  async fold(day: UtcDay, before: SealedDay): Promise<void> {
    const { archive, writer, sealing, seal, signal } = this.#context;
    const made: Part[] = [];
    let dayRecords = 0;
    const sequence = Math.max(before.sequence, this.#context.sequence);
    try {
      const rows = this.#counted(sealing.rows(day), (records) => {
        dayRecords += records;
      });
      const request = { day, sequence, sequenceBefore: before.sequence, parts: before.parts, rows };
      const gone = await writer.fold(request, async (part) => {
        made.push(await archive.writePart({ day, seal, index: made.length }, part));
      });
      const kept = before.parts.filter((part) => !gone.replaced.includes(part));
      this.days.set(day, { sequence, parts: [...kept, ...made], lost: before.lost });
      this.written.push(...made);
      this.replaced.push(...gone.replaced);
    } catch (error) {
      await archive.discard(made);
      signal.throwIfAborted();
      await archive.examine(before.parts, true);
      if (!before.parts.some(({ file }) => archive.damaged.has(file))) throw error;
      // What memory has of it stays there, and in the log, until the day can be read or is given up.
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
