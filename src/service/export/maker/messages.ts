import type { AllRecords } from "../../../archive/read/all-records.ts";
import type { WriteOptions } from "../../../formats/write/record-writer.ts";
import type { Result } from "../../../lib/result.ts";
import type { ReportBatch, RowBatch } from "../../../model/report-batch.ts";
import type { Cursor } from "../cursor.ts";

/*
 * What the maker of an export and its owner tell each other. Commands are done one after the other, each with an
 * outcome; pieces of the file come in between, no more of them on their way than have been taken and a few.
 */

/** What an export is opened with. A zone is not copied between processes, its name is. */
export interface ExportSettings {
  readonly format: string;
  readonly options: Omit<WriteOptions, "zone"> & { readonly zone: string | null };
  readonly order: "time" | "device";
  /** Where DuckDB finds the archive. */
  readonly archiveDirectory: string;
  /** What is too large for memory goes here; of this export alone. */
  readonly scratchDirectory: string;
}

/** What the maker adds by itself: the order, whether there are late rows, and what is written already. */
export type ReadingRequest = Omit<AllRecords, "late" | "order" | "behind">;

export type Command =
  /** Rows of memory that lie over what is read next. */
  | { readonly kind: "late"; readonly batch: RowBatch }
  /** Whole records of memory, in order. */
  | { readonly kind: "records"; readonly batch: ReportBatch }
  | { readonly kind: "read"; readonly request: ReadingRequest }
  /** The rows that were to lie over something do not: it is read anew. */
  | { readonly kind: "discard" }
  /** Nothing follows. */
  | { readonly kind: "end" };

export type ToMaker =
  /** Begins an export. The one before it, if any, is closed. */
  | { readonly kind: "open"; readonly settings: ExportSettings }
  | Command
  /** A piece was taken: another may come. */
  | { readonly kind: "taken" }
  /** Gives the export up, whatever is under way; answered with `closed`. */
  | { readonly kind: "close" };

export type FromMaker =
  /** The first message: the maker has begun, and takes an export. `format` is its `STAGED_FORMAT`. */
  | { readonly kind: "ready"; readonly format: string }
  /** Statements get on: said every few seconds. */
  | { readonly kind: "working" }
  | { readonly kind: "piece"; readonly bytes: Uint8Array<ArrayBuffer> }
  | Outcome
  /** Nothing of the export is left, and no message about it follows. */
  | { readonly kind: "closed" };

/** Pieces on their way from the maker to the client, after which it waits for room. */
export const PIECES_MAX = 4;

/** What became of a command. */
export interface Outcome {
  readonly kind: "outcome";
  readonly result: Result<null, CommandFault>;
  readonly progress: ExportProgress;
  /** At the end: a file that has what was not sent in pieces; null where all was. */
  readonly file: string | null;
}

export interface CommandFault {
  readonly message: string;
  readonly isOutOfDescriptors: boolean;
}

/** How far an export has come. */
export interface ExportProgress {
  readonly records: number;
  /** The last record that was written; null before the first. */
  readonly last: Cursor | null;
}
