import { WRITE_FORMATS } from "../../formats/write/formats.ts";
import {
  orderOf,
  type RecordOrder,
  type WriteFormat,
  type WriteOptions,
} from "../../formats/write/record-writer.ts";

/*
 * What records can be taken out as: texts, which are written here, and Parquet, which DuckDB writes.
 */

export interface ExportFormat extends Omit<WriteFormat, "create"> {
  /** Whether it is packed by itself. */
  readonly isPacked: boolean;
}

const PARQUET: ExportFormat = {
  name: "parquet",
  title: "Parquet, with the positions as GeoParquet",
  extension: ".parquet",
  mediaType: "application/vnd.apache.parquet",
  order: "time",
  marksSimplified: false,
  isPacked: true,
};

export const EXPORT_FORMATS: readonly ExportFormat[] = [
  ...WRITE_FORMATS.map((format) => ({ ...format, isPacked: format.name === "kmz" })),
  PARQUET,
];

/** The same as a text format; null for Parquet. */
export function findWriteFormat(name: string): WriteFormat | null {
  return WRITE_FORMATS.find((format) => format.name === name) ?? null;
}

export function exportOrder(name: string, options: WriteOptions): RecordOrder {
  const format = findWriteFormat(name);
  return format === null ? PARQUET.order : orderOf(format, options);
}
