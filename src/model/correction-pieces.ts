import type { Correction } from "./correction.ts";
import {
  type CorrectionEntry,
  type CorrectionPiece,
  type NewestAfter,
  PIECE_RECORDS_MAX,
} from "./correction-entry.ts";
import type { AppId } from "./ids.ts";
import type { ReportBatch } from "./report-batch.ts";

/** A correction with its whole effect. */
export interface WholeCorrection extends NewestAfter {
  readonly correction: Correction;
  /** The records that it touches, sorted. */
  readonly timestampMs: Float64Array;
  /** What answers show instead, in pieces of `PIECE_RECORDS_MAX`; null for nothing. */
  readonly rows: readonly ReportBatch[] | null;
}

const UNCHANGED: NewestAfter = { newest: null, newestOfTarget: null };

/** The entries of a correction that takes all its records out of sight. */
export function hidingEntries(
  appId: AppId,
  previous: number,
  correction: Correction,
  timestampMs: Float64Array,
): CorrectionEntry[] {
  return correctionEntries(appId, previous, {
    ...UNCHANGED,
    ...{ correction, timestampMs, rows: null },
  });
}

/** The entries of a correction, which names the number of the app's correction before it. */
export function correctionEntries(
  appId: AppId,
  previous: number,
  { timestampMs, rows, ...last }: WholeCorrection,
): CorrectionEntry[] {
  const { id } = last.correction;
  const pieces = piecesOf(timestampMs);
  return pieces.map((times, piece) => {
    const change: CorrectionPiece = {
      ...{ type: "piece", id, piece, pieces: pieces.length, timestampMs: times },
      ...{ rows: rows?.[piece] ?? null, rowsUpTo: 0 },
      last: piece === pieces.length - 1 ? last : null,
    };
    return { kind: "correction", appId, previous, change };
  });
}

/** The entry that undoes a correction. */
export function undoEntry(
  appId: AppId,
  previous: number,
  id: string,
  after: NewestAfter = UNCHANGED,
): CorrectionEntry {
  return { kind: "correction", appId, previous, change: { type: "undo", id, ...after } };
}

/** Cuts sorted instants into the pieces of entries; at least one. */
export function piecesOf(timestampMs: Float64Array): Float64Array[] {
  const pieces = [timestampMs.subarray(0, PIECE_RECORDS_MAX)];
  for (let from = PIECE_RECORDS_MAX; from < timestampMs.length; from += PIECE_RECORDS_MAX)
    pieces.push(timestampMs.subarray(from, from + PIECE_RECORDS_MAX));
  return pieces;
}
