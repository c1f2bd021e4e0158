import {
  type CorrectionEntry,
  type CorrectionPiece,
  PIECE_RECORDS_MAX,
} from "../../model/correction-entry.ts";
import { piecesOf } from "../../model/correction-pieces.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { CorrectionsOfApp, HeldCorrection } from "./held-correction.ts";

/** The rows of an active correction as they are now, from one index to before another; null if it was undone. */
export type ReadRows = (
  appId: AppId,
  item: HeldCorrection,
  from: number,
  to: number,
) => { readonly rows: ReportBatch; readonly upTo: number } | null;

/**
 * Corrections as entries for a file, as they are at the call. Rows are read when their entry is, up to a later entry of
 * the log, which the entry names. Of a correction that is undone meanwhile the rows are missing; the log has its
 * undoing.
 */
export function standingEntries(
  byApp: ReadonlyMap<AppId, CorrectionsOfApp>,
  readRows: ReadRows,
): Iterable<CorrectionEntry> {
  const apps = [...byApp].map(([appId, { number, byId, pending }]) => ({
    ...{ appId, number },
    items: [...byId.values()],
    pending: [...pending.values()].map(({ previous, pieces }) => ({ previous, pieces: [...pieces] })),
  }));
  return (function* () {
    for (const { appId, number, items, pending } of apps) {
      yield { kind: "correction", appId, previous: number, change: { type: "number" } };
      for (const item of items) yield* entriesOf(appId, item, readRows);
      for (const { previous, pieces } of pending)
        for (const piece of pieces)
          if (piece !== undefined) yield { kind: "correction", appId, previous, change: piece };
    }
  })();
}

function* entriesOf(appId: AppId, item: HeldCorrection, readRows: ReadRows): Iterable<CorrectionEntry> {
  const { correction, number, isActive, newest, newestOfTarget } = item;
  const { id } = correction;
  const entry = { kind: "correction", appId, previous: number - 1 } as const;
  if (correction.isOfDevice === true) yield { ...entry, change: { type: "assign", id, correction } };
  const times = correction.isOfDevice === true ? [] : piecesOf(item.timestampMs);
  for (let piece = 0; piece < times.length; piece++) {
    const timestampMs = times[piece]!;
    const from = piece * PIECE_RECORDS_MAX;
    const read =
      correction.target === null || !isActive || timestampMs.length === 0
        ? null
        : readRows(appId, item, from, from + timestampMs.length);
    const change: CorrectionPiece = {
      ...{ type: "piece", id, piece, pieces: times.length, timestampMs },
      ...{ rows: read?.rows ?? null, rowsUpTo: read?.upTo ?? 0 },
      last: piece < times.length - 1 ? null : { correction, newest, newestOfTarget },
    };
    yield { ...entry, change };
  }
  if (!isActive) yield { ...entry, change: { type: "undo", id, newest, newestOfTarget } };
}
