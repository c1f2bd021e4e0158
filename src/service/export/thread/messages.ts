import type { AllRecords } from "../../../archive/read/all-records.ts";
import type { WriteOptions } from "../../../formats/write/record-writer.ts";
import type { Result } from "../../../lib/result.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import type { Cursor } from "../cursor.ts";

/*
 * What the thread of an export and its owner tell each other. Commands are done one after the other, each with an
 * outcome; pieces of the file come in between, no more of them on their way than have been taken and a few.
 */

/** What the thread is started with. A zone is not copied between threads, its name is. */
export interface ThreadSettings {
  readonly format: string;
  readonly options: Omit<WriteOptions, "zone"> & { readonly zone: string | null };
  readonly order: "time" | "device";
  /** Where DuckDB finds the archive. */
  readonly archiveDirectory: string;
  /** What is too large for memory goes here; of this export alone. */
  readonly scratchDirectory: string;
}

/** What the thread adds by itself: the order, whether there are late rows, and what is written already. */
export type ReadingRequest = Omit<AllRecords, "hasLate" | "order" | "behind">;

export type Command =
  /** Rows of memory that lie over what is read next. */
  | { readonly kind: "late"; readonly batch: ReportBatch }
  /** Whole records of memory, in order. */
  | { readonly kind: "records"; readonly batch: ReportBatch }
  | { readonly kind: "read"; readonly request: ReadingRequest }
  /** The rows that were to lie over something do not: it is read anew. */
  | { readonly kind: "discard" }
  /** Nothing follows. */
  | { readonly kind: "end" };

/** All is given up, whatever is under way; answered with `Closed`. */
export interface Close {
  readonly kind: "close";
}

export interface Closed {
  readonly kind: "closed";
}

/** A piece was taken: another may come. */
export interface PieceTaken {
  readonly kind: "taken";
}

/** Pieces on their way from the thread to the client, after which it waits for room. */
export const PIECES_MAX = 4;

/** A piece of the file. */
export interface Piece {
  readonly kind: "piece";
  readonly bytes: Uint8Array<ArrayBuffer>;
}

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
