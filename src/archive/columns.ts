import { crc32 } from "node:zlib";
import { STORED_FIELDS, type StoredField } from "../model/location-fields.ts";

/**
 * The columns of every Parquet file of the archive, in order: the key, the fields of a report in the order of their
 * column numbers, then `h3_cell`. Columns added by a later version are null in older files.
 */
export interface ArchiveColumn {
  readonly name: string;
  readonly type: "VARCHAR" | "BIGINT" | "DOUBLE" | "BOOLEAN" | "UBIGINT";
  /** The field of a report; null for a column that is part of the key or derived from the record. */
  readonly field: StoredField | null;
}

/** Identifies a record. Files are sorted by these. */
export const KEY_COLUMNS = ["app_id", "device_id", "timestamp"] as const;

/** H3 cells of this resolution have edges of about 1.4 km: a coarse grid for counting and joining. */
export const H3_RESOLUTION = 7;

const VALUE_FIELDS = STORED_FIELDS.filter(({ column }) => ["number", "profile", "state"].includes(column));

/** The columns of a report's fields without its key. */
export const VALUE_COLUMNS: readonly ArchiveColumn[] = VALUE_FIELDS.map((field) => ({
  name: field.name,
  type: typeOf(field),
  field,
}));

export const ARCHIVE_COLUMNS: readonly ArchiveColumn[] = [
  { name: "app_id", type: "VARCHAR", field: null },
  { name: "device_id", type: "VARCHAR", field: null },
  { name: "timestamp", type: "BIGINT", field: null },
  ...VALUE_COLUMNS,
  { name: "h3_cell", type: "UBIGINT", field: null },
];

/** Files with the same mark have the same columns, in the same order. */
export function columnsMark(names: readonly string[]): string {
  return crc32(names.join()).toString(16).padStart(8, "0");
}

/** The mark of the files that this version writes. */
export const COLUMNS_MARK = columnsMark(ARCHIVE_COLUMNS.map(({ name }) => name));

/**
 * A statement with all columns and no rows. With `UNION ALL BY NAME` it gives the rows of older files all columns, null
 * where they are missing.
 */
const NULLS = ARCHIVE_COLUMNS.map(({ name, type }) => `NULL::${type} AS ${name}`).join(", ");
export const NO_RECORDS_SQL = `SELECT ${NULLS} WHERE false`;

function typeOf({ column, type }: StoredField): ArchiveColumn["type"] {
  if (column === "number") return "DOUBLE";
  return type === "boolean" ? "BOOLEAN" : "VARCHAR";
}
