import type { AllRecords } from "../../../archive/read/all-records.ts";
import type { WriteOptions } from "../../../formats/write/record-writer.ts";
import type { Result } from "../../../lib/result.ts";
import type { ReportBatch, RowBatch } from "../../../model/report-batch.ts";

/*
 * The messages between the maker of an export and its owner. Commands run one after the other, each with an outcome;
 * pieces of the file are sent in between, only a few more than the owner has taken.
 */

/** The settings of an export. A zone can't be copied between processes, so it is sent by name. */
export interface ExportSettings {
  readonly format: string;
  readonly options: Omit<WriteOptions, "zone"> & { readonly zone: string | null };
  readonly order: "time" | "device";
  /** Where DuckDB finds the archive. */
  readonly archiveDirectory: string;
  /** A directory of this export for data too large for memory. */
  readonly scratchDirectory: string;
}

/** A read without what the maker adds: the order, the tables of late rows and of hidden keys, and the cursor. */
export type ReadingRequest = Omit<AllRecords, "late" | "hidden" | "order" | "behind">;

export type Command = RecordCommand | NamesCommand;

/** The names of devices whose records follow. Devices without one are absent. */
export interface NamesCommand {
  readonly kind: "names";
  readonly names: readonly (readonly [deviceId: string, name: string])[];
}

export type RecordCommand =
  /** Rows of memory that lie over the next read. */
  | { readonly kind: "late"; readonly batch: RowBatch }
  /** Keys whose records the next read leaves out. */
  | { readonly kind: "hidden"; readonly batch: RowBatch }
  /** Complete records of memory, in order. */
  | { readonly kind: "records"; readonly batch: ReportBatch }
  | { readonly kind: "read"; readonly request: ReadingRequest }
  /** Drops the late rows and the keys, because their read must be repeated. */
  | { readonly kind: "discard" }
  /** There are no more records. */
  | { readonly kind: "end" };

export type ToMaker =
  /** Starts an export. The one before it, if any, is closed. */
  | { readonly kind: "open"; readonly settings: ExportSettings }
  | Command
  /** The client took a piece: another may be sent. */
  | { readonly kind: "taken" }
  /** Aborts the export; answered with `closed`. */
  | { readonly kind: "close" };

export type FromMaker =
  /** The first message: the maker can take an export. `format` is its `STAGED_FORMAT`. */
  | { readonly kind: "ready"; readonly format: string }
  /** Statements make progress; sent every few seconds. */
  | { readonly kind: "working" }
  | { readonly kind: "piece"; readonly bytes: Uint8Array<ArrayBuffer> }
  | Outcome
  /** The export's resources are released, and no message about it follows. */
  | { readonly kind: "closed" };

/** Pieces on their way to the client; at this number the maker waits. */
export const PIECES_MAX = 4;

/** The outcome of a command. */
export interface Outcome {
  readonly kind: "outcome";
  readonly result: Result<null, CommandFault>;
  /** How many records the export has so far. */
  readonly records: number;
  /** At the end: a file with everything that was not sent in pieces; null if all was sent. */
  readonly file: string | null;
}

export interface CommandFault {
  readonly message: string;
  readonly isOutOfDescriptors: boolean;
}
