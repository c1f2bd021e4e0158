import type { Part, SealedDay } from "../../../archive/manifest.ts";
import type { FoldResult } from "../../../archive/write/part-writer.ts";
import { masksDay, type PendingErasure } from "../../../model/erasure.ts";
import { nextUtcDay, type UtcDay, utcDayName, utcDayStartMs } from "../../../model/time/utc-day.ts";

// What a seal does for erasures: it writes files of archived days anew, without what they destroy.

/** What a seal erased from the archive. Several seals may be needed. */
export interface ErasedFiles {
  /** Days whose files were written anew or removed. */
  readonly days: readonly string[];
  readonly records: number;
  readonly files: readonly ErasedFile[];
  /** Files that can't be read. Their days stay masked until they can, or an operator acknowledges their loss. */
  readonly damaged: readonly string[];
  /** How many days are still masked: their files may have more to erase. */
  readonly left: number;
}

/** A file that had erased records. */
export interface ErasedFile {
  /** Its path within the archive directory. */
  readonly file: string;
  readonly bytesBefore: number;
  readonly crcBefore: number;
  /** How many of its records each erasure destroyed, by its entry of the log. */
  readonly bySequence: ReadonlyMap<number, number>;
  /** The file with the records that were left, perhaps with those of other files; null if none were. */
  readonly fileAfter: string | null;
  readonly crcAfter: number | null;
}

/** Days that one seal writes anew for erasures alone. Each takes up to some seconds for 500,000 records. */
export const ERASED_DAYS_MAX = 32;
/** After this time a seal begins no further day: the next seal of due days must not wait for long. */
export const ERASING_MS_MAX = 60_000;

/** An archived day, and what is to be erased from its files. */
export interface MaskedDay {
  readonly day: UtcDay;
  readonly sealed: SealedDay;
}

/** Knows what a seal has to erase, and collects what it has erased. */
export class Erasing {
  readonly #erasures: readonly PendingErasure[];
  readonly #days = new Set<UtcDay>();
  readonly #files: ErasedFile[] = [];
  readonly #damaged = new Set<string>();

  /** Erasures that this seal can finish: those that memory had applied when it began. */
  constructor(erasures: readonly PendingErasure[]) {
    this.#erasures = erasures;
  }

  get isNeeded(): boolean {
    return this.#erasures.length > 0;
  }

  /** Whether any is later than this entry of the log. */
  isAfter(sequence: number): boolean {
    return this.#erasures.some((erasure) => erasure.sequence > sequence);
  }

  /** The erasures of which the files of a day may have records. */
  of(day: UtcDay, { cleared }: Pick<SealedDay, "cleared">): readonly PendingErasure[] {
    const range = { startMs: utcDayStartMs(day), endMs: utcDayStartMs(nextUtcDay(day)) };
    return this.#erasures.filter((erasure) => masksDay(erasure, range, cleared));
  }

  /** The masked days among these, the oldest first: `toRead` have files of the erasures' apps, `clear` have none. */
  masked(days: Iterable<readonly [UtcDay, SealedDay]>): {
    readonly toRead: MaskedDay[];
    readonly clear: MaskedDay[];
  } {
    const masked = [...days]
      .map(([day, sealed]) => ({ day, sealed, erasures: this.of(day, sealed) }))
      .filter(({ erasures }) => erasures.length > 0)
      .sort((a, b) => a.day - b.day);
    const mayHold = ({ sealed, erasures }: (typeof masked)[number]) =>
      sealed.parts.some(({ apps }) => erasures.some(({ appId }) => apps.has(appId)));
    return { toRead: masked.filter(mayHold), clear: masked.filter((day) => !mayHold(day)) };
  }

  /** How many days were written anew. */
  get dayCount(): number {
    return this.#days.size;
  }

  note(day: UtcDay, { erased }: FoldResult, newParts: readonly Part[]): void {
    if (erased.length > 0) this.#days.add(day);
    for (const { part, counts, into } of erased) {
      const after = into === null ? null : newParts[into]!;
      this.#files.push({
        file: part.file,
        bytesBefore: part.bytes,
        crcBefore: part.crc,
        bySequence: counts,
        fileAfter: after?.file ?? null,
        crcAfter: after?.crc ?? null,
      });
    }
  }

  noteDamaged(files: Iterable<string>): void {
    for (const file of files) this.#damaged.add(file);
  }

  /** The result; `days` are the archived days after the seal. */
  report(days: Iterable<readonly [UtcDay, SealedDay]>): ErasedFiles {
    const { toRead, clear } = this.masked(days);
    return {
      days: [...this.#days].sort((a, b) => a - b).map(utcDayName),
      records: sumOf(this.#files.flatMap(({ bySequence }) => [...bySequence.values()])),
      files: this.#files,
      damaged: [...this.#damaged],
      left: toRead.length + clear.length,
    };
  }
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}
