import { WRITE_FORMATS } from "../../formats/write/formats.ts";
import {
  orderOf,
  type RecordOrder,
  type WriteFormat,
  type WriteOptions,
} from "../../formats/write/record-writer.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";

/*
 * The query and the formats of an export. Texts are written here, Parquet by DuckDB.
 */

/** Which records are exported, and how they are written. */
export interface ExportQuery {
  readonly appId: AppId;
  /** Only these; null for all devices of the app. */
  readonly deviceIds: readonly string[] | null;
  /** Only records of this user; null for all. */
  readonly userId: UserId | null;
  readonly range: TimeRange;
  /** Whether records are written as they were reported, without corrections. */
  readonly originals: boolean;
  /** A name in `EXPORT_FORMATS`. */
  readonly format: string;
  readonly options: WriteOptions;
}

export interface ExportFormat extends Omit<WriteFormat, "create"> {
  /** Whether the format has its own compression. */
  readonly isPacked: boolean;
}

const PARQUET: ExportFormat = {
  name: "parquet",
  title: "Parquet, with the positions as GeoParquet",
  extension: ".parquet",
  mediaType: "application/vnd.apache.parquet",
  order: "time",
  marksSimplified: false,
  showsNames: false,
  isPacked: true,
};

export const EXPORT_FORMATS: readonly ExportFormat[] = [
  ...WRITE_FORMATS.map((format) => ({ ...format, isPacked: format.name === "kmz" })),
  PARQUET,
];

/** The writer of a text format; null for Parquet. */
export function findWriteFormat(name: string): WriteFormat | null {
  return WRITE_FORMATS.find((format) => format.name === name) ?? null;
}

/** Whether devices appear under the names of their profiles. */
export function showsNames(name: string, { redact }: WriteOptions): boolean {
  return !redact && findWriteFormat(name)?.showsNames === true;
}

export function exportOrder(name: string, options: WriteOptions): RecordOrder {
  const format = findWriteFormat(name);
  return format === null ? PARQUET.order : orderOf(format, options);
}
