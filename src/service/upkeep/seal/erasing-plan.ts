import type { Manifest } from "../../../archive/manifest.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import type { PendingErasure } from "../../../model/erasure.ts";
import type { UtcDay } from "../../../model/time/utc-day.ts";
import type { LogErasing } from "../../../wal/closed-segments.ts";
import { type ErasedFiles, Erasing } from "./erase.ts";
import type { Folded } from "./fold.ts";
import { ASIDE_KEEP_MS } from "./plan.ts";

/* What a seal plans and reports for erasures that are not finished, beside the days that it writes anew. */

/** What a seal erased. Once it leaves nothing, erasures up to `sequence` are finished in the archive and the log. */
export interface SealErasing extends ErasedFiles {
  /** The seal erased what erasures up to this entry of the log destroy. */
  readonly sequence: number;
  /** What it erased from the log; null if it did not get that far. */
  readonly log: LogErasing | null;
}

/** What later seals need to know of this one, as long as erasures are pending. */
export class ErasingProgress {
  /** What erasures up to this entry of the log destroy is in no segment that is being written. */
  rotatedSequence = 0;
  /** The checkpoint has nothing that erasures up to this entry of the log destroy; 0 if that is not known. */
  #checkpointSequence = 0;

  isCheckpointStale(erasing: Erasing): boolean {
    return erasing.isAfter(this.#checkpointSequence);
  }

  noteCheckpoint({ hasNewLatest, sequence }: Folded): void {
    if (hasNewLatest) this.#checkpointSequence = sequence;
  }
}

/** The last of these erasures up to an entry of the log; 0 if there is none. */
export function lastSequenceOf(erasures: readonly PendingErasure[], upTo = Number.POSITIVE_INFINITY): number {
  return Math.max(0, ...erasures.map(({ sequence }) => sequence).filter((sequence) => sequence <= upTo));
}

/** Files that were moved aside may have what is to be erased. */
export function asideKeepMs({ erasures }: HotStore): number {
  return erasures.pending().length > 0 ? 0 : ASIDE_KEEP_MS;
}

/**
 * What this seal erases, the due days that it folds, and those that wait: if a part of the log could not be read, days
 * are not covered by what comes after, so erasures there can't be finished, and would mask new records of these days.
 */
export function planErasing(hot: HotStore, readUpTo: number, due: readonly UtcDay[]) {
  const pending = hot.erasures.pending().filter(({ sequence }) => sequence <= hot.appliedSequence);
  const later = new Erasing(pending.filter(({ sequence }) => sequence > readUpTo));
  const waitingDays = due.filter((day) => later.of(day, { cleared: 0 }).length > 0);
  return {
    erasing: new Erasing(pending.filter(({ sequence }) => sequence <= readUpTo)),
    days: due.filter((day) => !waitingDays.includes(day)),
    held: waitingDays,
  };
}

export function erasingOf(
  erasing: Erasing,
  { sequence }: Folded,
  { days, expired, standing }: Manifest,
  log: LogErasing | null,
): SealErasing {
  // A log keeps what an erasure destroys until the archive has the standing entries up to it.
  const inArchive = Math.min(sequence, standing?.sequence ?? 0);
  return { ...erasing.report([...days, ...expired]), sequence: inArchive, log };
}
