import type { Remark, SkipReason } from "../../formats/read/file-point.ts";
import type { PlaceUnit } from "../../formats/read/format.ts";
import type { ReportBatch } from "../../model/report-batch.ts";

/**
 * The progress of an import. All sources before this one are finished, and of this one the first `things`: points and
 * skips of a foreign file, or rows of our own formats.
 */
export interface ImportPosition {
  readonly source: number;
  readonly things: number;
}

export const IMPORT_START: ImportPosition = { source: 0, things: 0 };

/** A file as messages name it. */
export interface Origin {
  /** Its index among the sources. */
  readonly source: number;
  readonly label: string;
  readonly placeUnit: PlaceUnit;
}

/** Something in a file that became no report. */
export interface Skip {
  readonly origin: Origin;
  readonly place: number;
  readonly reason: SkipReason;
  /** What is wrong with it, if the reason does not say so. */
  readonly message: string | null;
}

/** A file that can't be read to its end; everything before the fault is good. */
export interface Fault {
  readonly origin: Origin;
  /** Null if nothing of it was read. */
  readonly place: number | null;
  readonly message: string;
}

/** The next reports of an import, all of one group of files, and what was skipped between them. */
export interface ImportBatch {
  readonly group: number;
  readonly batch: ReportBatch;
  /** By row, its byte or line in its file. */
  readonly places: Float64Array;
  /** The files of the rows: each has the rows from `fromRow` on. */
  readonly origins: readonly { readonly fromRow: number; readonly origin: Origin }[];
  readonly skips: readonly Skip[];
  readonly faults: readonly Fault[];
  readonly remarks: ReadonlyMap<Remark, number>;
  /** By name, how often an optional field was omitted because its value is out of bounds. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** By name, how often an optional field was omitted because its value can't be read. */
  readonly unreadable: ReadonlyMap<string, number>;
  /** The progress of the import once this batch is acknowledged. */
  readonly end: ImportPosition;
}

/** A row that the receiver refused, as a skip. */
export function rejectedRow(
  { origins, places }: Pick<ImportBatch, "origins" | "places">,
  row: number,
  message: string,
): Skip {
  const { origin } = origins.findLast(({ fromRow }) => fromRow <= row)!;
  return { origin, place: places[row]!, reason: "rejected", message };
}
