import type { Remark, SkipReason } from "../../formats/read/file-point.ts";
import type { PlaceUnit } from "../../formats/read/format.ts";
import type { ReportBatch } from "../../model/report-batch.ts";

/**
 * Where an import stands. Of the sources before this one everything is settled, and of this one as many things: points
 * and skips of a file, or rows of our own.
 */
export interface ImportPosition {
  readonly source: number;
  readonly things: number;
}

export const IMPORT_START: ImportPosition = { source: 0, things: 0 };

/** A file as people are told of places in it. */
export interface Origin {
  /** Which of the sources it is. */
  readonly source: number;
  readonly label: string;
  readonly placeUnit: PlaceUnit;
}

/** Something in a file that became no report. */
export interface Skip {
  readonly origin: Origin;
  readonly place: number;
  readonly reason: SkipReason;
  /** What is wrong with it, where the reason leaves that open. */
  readonly message: string | null;
}

/** A file that can't be read to its end; what came before that is good. */
export interface Fault {
  readonly origin: Origin;
  /** Null where nothing of it was read. */
  readonly place: number | null;
  readonly message: string;
}

/** The next reports of an import, all of one group of files, and what became none. */
export interface ImportBatch {
  readonly group: number;
  readonly batch: ReportBatch;
  /** By row, where in its file it came from. */
  readonly places: Float64Array;
  /** Which files the rows came from: each those from this row on. */
  readonly origins: readonly { readonly fromRow: number; readonly origin: Origin }[];
  readonly skips: readonly Skip[];
  readonly faults: readonly Fault[];
  readonly remarks: ReadonlyMap<Remark, number>;
  /** Optional fields that were left out since their value is out of bounds, by name. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Those that were left out since their value can't be read. */
  readonly unreadable: ReadonlyMap<string, number>;
  /** Where the import stands once this batch is settled. */
  readonly end: ImportPosition;
}

/** What a receiver has against a row, as something that is skipped. */
export function rejectedRow(
  { origins, places }: Pick<ImportBatch, "origins" | "places">,
  row: number,
  message: string,
): Skip {
  const { origin } = origins.findLast(({ fromRow }) => fromRow <= row)!;
  return { origin, place: places[row]!, reason: "rejected", message };
}
