import type { Archive } from "../../../archive/archive.ts";
import type { Manifest, Part, SealedDay } from "../../../archive/manifest.ts";
import type { PartWriter } from "../../../archive/write/part-writer.ts";
import type { DayRows } from "../../../archive/write/row-stager.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import type { Sealing } from "../../../hot/sealing.ts";
import { forEachAtOnce } from "../../../lib/schedule/semaphore.ts";
import { nextTurn } from "../../../lib/schedule/timers.ts";
import type { UtcDay } from "../../../model/time/utc-day.ts";
import { ERASED_DAYS_MAX, ERASING_MS_MAX, type Erasing, type MaskedDay } from "./erase.ts";
import type { RetentionPlan } from "./plan.ts";

/** The result of folding days into the archive. It takes effect when a manifest names it. */
export interface Folded {
  readonly days: ReadonlyMap<UtcDay, SealedDay>;
  /** Other archived days whose files have nothing more to erase. */
  readonly cleared: ReadonlyMap<UtcDay, SealedDay>;
  /** The checkpoint from now on. */
  readonly latest: readonly Part[] | null;
  /** Whether that is another one than before. */
  readonly hasNewLatest: boolean;
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
  readonly erasing: Erasing;
  /** Days that are due but are not folded. */
  readonly held: readonly UtcDay[];
  /** Whether the checkpoint may have records that an erasure has destroyed. */
  readonly isCheckpointStale: boolean;
  /** Devices without a newer record are not in the checkpoint. */
  readonly oldestMs: number;
  readonly signal: AbortSignal;
  onProgress(progress: SealProgress): void;
}

/** Writes new parts for the days in memory, and the checkpoint. On failure it leaves no files. */
export async function foldDays(dependencies: FoldDependencies, request: FoldRequest): Promise<Folded> {
  const { hot, archive, readUpTo, hasAllNewest, openWriter, daysAtOnce } = dependencies;
  const { sealing, days, held, plan, erasing, oldestMs, signal, onProgress } = request;
  const { manifest } = archive;
  const sequence = Math.min(sealing.sequence, readUpTo);
  const masked = erasing.masked(archivedBeside([...days, ...held], manifest, plan));
  const isStale = request.isCheckpointStale && manifest.latest !== null;
  // The checkpoint has records of the days too, so a deletion requires a new one.
  if (days.length + plan.deleted.size + masked.toRead.length === 0 && !isStale) {
    const nothing = { days: new Map(), written: [], replaced: [], blocked: held, records: 0 };
    const latest = { latest: manifest.latest, hasNewLatest: false };
    return { ...nothing, cleared: clearedAt(sequence, masked.clear), ...latest, sequence };
  }
  const counts = new Map(hot.daysInMemory().map(({ day, records }) => [day, records]));
  const recordsTotal = days.reduce((sum, day) => sum + (counts.get(day) ?? 0), 0);
  const writer = await openWriter(signal);
  const breakOff = () => writer.breakOff(); // A running statement could take seconds.
  signal.addEventListener("abort", breakOff);
  const seal = manifest.seal + 1;
  const onRecords = (records: number) => onProgress({ records, recordsTotal });
  const folding = new DayFolding({ archive, writer, sealing, seal, sequence, erasing, signal, onRecords });
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
    await folding.erase(masked.toRead);
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
    cleared: new Map([...clearedAt(sequence, masked.clear), ...folding.cleared]),
    latest: hasAllNewest ? newest : null,
    hasNewLatest: true,
    written,
    replaced,
    blocked: [...held, ...blocked],
    records,
    sequence,
  };
}

/** Days of more rows are folded alone: the writer's memory suffices to sort one of them. */
const DAY_ROWS_BESIDE_MAX = 100_000;

const NOTHING_SEALED: SealedDay = { sequence: 0, cleared: 0, parts: [], lost: [] };

/** Archived days, expired or not, that are not among these. */
function archivedBeside(
  days: readonly UtcDay[],
  manifest: Manifest,
  { restored, remaining }: RetentionPlan,
): [UtcDay, SealedDay][] {
  const excluded = new Set(days);
  return [...manifest.days, ...restored, ...remaining].filter(([day]) => !excluded.has(day));
}

/** Days that have nothing to erase as they are. */
function clearedAt(sequence: number, days: readonly MaskedDay[]): Map<UtcDay, SealedDay> {
  return new Map(
    days.map(({ day, sealed }) => [day, { ...sealed, cleared: Math.max(sealed.cleared, sequence) }]),
  );
}

/** The context shared by all days. */
interface FoldContext {
  readonly archive: Archive;
  readonly writer: PartWriter;
  readonly sealing: Sealing;
  /** The number of this seal. */
  readonly seal: number;
  readonly sequence: number;
  readonly erasing: Erasing;
  readonly signal: AbortSignal;
  readonly onRecords: (records: number) => void;
}

/** Folds days, and collects the results. */
class DayFolding {
  readonly days = new Map<UtcDay, SealedDay>();
  readonly cleared = new Map<UtcDay, SealedDay>();
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
    let dayRecords = 0;
    const rows = this.#counted(this.#context.sealing.rows(day), (records) => {
      dayRecords += records;
    });
    const after = await this.#write(day, before, rows);
    if (after !== null) this.days.set(day, after);
    else {
      // Its records stay in memory and in the log until the day can be read or is acknowledged as lost.
      this.blocked.push(day);
      this.records -= dayRecords;
    }
  }

  /** Writes days of which memory has nothing anew, as many as one seal may. */
  async erase(days: readonly MaskedDay[]): Promise<void> {
    const { archive, erasing, signal } = this.#context;
    const startMs = performance.now();
    const isDamaged = ({ sealed }: MaskedDay) => sealed.parts.some(({ file }) => archive.damaged.has(file));
    let count = 0;
    // Days that may be damaged come last, or they would keep others from their turn.
    for (const masked of [...days.filter((day) => !isDamaged(day)), ...days.filter(isDamaged)]) {
      if (count >= ERASED_DAYS_MAX || performance.now() - startMs > ERASING_MS_MAX) return;
      signal.throwIfAborted();
      const { day, sealed } = masked;
      const before = erasing.dayCount;
      const after = await this.#write(day, sealed, noRows());
      if (after !== null) this.cleared.set(day, after);
      count += erasing.dayCount - before;
    }
  }

  /** Null if a part is damaged. */
  async #write(day: UtcDay, before: SealedDay, rows: AsyncIterable<DayRows>): Promise<SealedDay | null> {
    const { archive, writer, erasing, seal, signal } = this.#context;
    const newParts: Part[] = [];
    const sequence = Math.max(before.sequence, this.#context.sequence);
    const cleared = Math.max(before.cleared, this.#context.sequence);
    try {
      const states = { sequence, sequenceBefore: before.sequence, cleared, clearedBefore: before.cleared };
      const erasures = erasing.of(day, before);
      const request = { day, ...states, parts: before.parts, erasures, rows };
      const result = await writer.fold(request, async (part) => {
        newParts.push(await archive.writePart({ day, seal, index: newParts.length }, part));
      });
      erasing.note(day, result, newParts);
      const unchanged = before.parts.filter((part) => !result.replaced.includes(part));
      this.written.push(...newParts);
      this.replaced.push(...result.replaced);
      return { ...before, sequence, cleared, parts: [...unchanged, ...newParts] };
    } catch (error) {
      await archive.discard(newParts);
      signal.throwIfAborted();
      await archive.examine(before.parts, true);
      const damaged = before.parts.filter(({ file }) => archive.damaged.has(file));
      if (damaged.length === 0) throw error;
      if (erasing.of(day, before).length > 0) erasing.noteDamaged(damaged.map(({ file }) => file));
      return null;
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

async function* noRows(): AsyncGenerator<DayRows> {}

async function* paced(rows: Iterable<DayRows>): AsyncGenerator<DayRows> {
  for (const row of rows) {
    yield row;
    await nextTurn();
  }
}
