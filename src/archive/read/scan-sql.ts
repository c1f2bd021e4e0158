import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import {
  type LocationField,
  NUMBER_FIELDS,
  type NumberFieldName,
  PROFILE_FIELDS,
  STATE_FIELDS,
} from "../../model/location-fields.ts";
import type { Order } from "../../model/time/range.ts";
import { NO_RECORDS_SQL, VALUE_COLUMNS } from "../columns.ts";
import type { SqlValues } from "../duckdb/database.ts";
import type { UpperRows } from "../overlay-sql.ts";
import type { AliasShape } from "./alias-sql.ts";
import {
  archivedRecords,
  archivedRows,
  type KeyConditions,
  matching,
  RECORD,
  type ScanShape,
  valueFilters,
} from "./matching-sql.ts";
import { NO_CONSTANTS } from "./part-chunks.ts";

// The statements that read parts. Their text depends on the shape only. All values are bound: those that the shape
// names, and what a statement adds.

/** The conditions that decide which columns a statement reads. */
export type ScanColumns = Pick<ScanShape, "ofUser" | "byAccuracy" | "fields">;

export interface ScanStatement {
  sql(shape: ScanShape): string;
  /** The columns that it reads. */
  columns(shape: ScanColumns): readonly string[];
  /** Those that it only shows; undefined if the statement does not omit constant columns. */
  readonly shownColumns?: (shape: ScanColumns) => readonly string[];
}

/**
 * Whole records in order, `$limit` of them from `$offset` on: time, number fields, profile and state as a JSON array
 * each, and the device unless the shape has one. They are ordered by the plain column: ordered by the cast one, DuckDB
 * would not skip, while reading, what comes too late for the page.
 */
export function recordsStatement(order: Order): ScanStatement {
  return {
    sql(shape) {
      const { ofDevice, isSorted, late, hasOldFiles } = shape;
      const orderBy = `ORDER BY timestamp ${order}${ofDevice ? "" : `, device_id ${order}`}`;
      const columns = recordColumns(shape);
      // DuckDB keeps the order of files and of their rows, and stops once it has enough. Planning a nested statement
      // takes 0.4 of 4 ms.
      if (ofDevice && isSorted && order === "asc" && late === null && !hasOldFiles)
        return `SELECT ${columns} FROM ${archivedRows(shape)}${valueFilters(shape)} LIMIT $limit OFFSET $offset`;
      return `SELECT ${columns} FROM (SELECT * FROM ${matching(shape)} ${orderBy} LIMIT $limit OFFSET $offset)`;
    },
    columns: (shape) => [...filterColumns(shape), ...shownColumns(shape)],
    shownColumns,
  };
}

/** The columns of whole records. */
function recordColumns(shape: ScanShape): string {
  return [
    "timestamp::DOUBLE",
    ...NUMBER_FIELDS.map((field) => (isRead(field, shape) ? field.name : "NULL::DOUBLE")),
    tupleJson(PROFILE_FIELDS, shape),
    tupleJson(STATE_FIELDS, shape),
    ...(shape.ofDevice ? [] : ["device_id"]),
  ].join(", ");
}

/**
 * The newest record of each device in `$devices`, like `recordsStatement()`; with `hasBeside`, beside what was reported
 * with `$besideUser` from `$besideStart` to before `$besideEnd`, which are numbers as texts.
 */
export function newestStatement(hasBeside: boolean): ScanStatement {
  const isBeside = hasBeside
    ? ` AND (user_id IS NULL OR user_id <> $besideUser
        OR timestamp < $besideStart::BIGINT OR timestamp >= $besideEnd::BIGINT)`
    : "";
  return {
    sql(shape) {
      const records = `SELECT * FROM ${matching(shape)} WHERE device_id IN (SELECT unnest($devices))${isBeside}`;
      // Read twice: sorting whole records would need memory for all of them.
      return `SELECT ${recordColumns(shape)} FROM (${records})
        JOIN (SELECT device_id, max(timestamp) AS timestamp FROM (${records}) GROUP BY device_id)
          USING (device_id, timestamp)`;
    },
    columns: (shape) => [...filterColumns(shape), "user_id", ...shownColumns(shape)],
  };
}

function shownColumns(shape: ScanColumns): string[] {
  return VALUE_COLUMNS.filter(({ field }) => isShown(field!, shape)).map(({ name }) => name);
}

/** The values of columns that a statement shows but does not read. */
export function constantValues({ constants }: ScanShape): SqlValues {
  const texts = [...constants].filter(([, text]) => text !== null);
  return Object.fromEntries(texts.map(([name, text]) => [constantName(name), text]));
}

function constantName(column: string): string {
  return `constant_${column}`;
}

export interface AllRecordsShape extends Pick<ScanShape, "ofDevice" | "ofUser"> {
  readonly some?: KeyConditions;
  readonly hasFiles: boolean;
  /** The tables of late rows to merge into the files' records; null if there are none. */
  readonly late: UpperRows | null;
  readonly hidden: string | null;
  readonly isMasked: boolean;
  readonly aliases: AliasShape | null;
  readonly hasOldFiles: boolean;
  /** Whether the files, read one after the other, are in the requested order. */
  readonly isSorted: boolean;
  /** The key that is sorted by first. */
  readonly order: "time" | "device";
}

/** All records, sorted, as a table with `device_id`, `timestamp` and all `VALUE_COLUMNS`. */
export function allRecordsSql(all: AllRecordsShape): string {
  const shape = { ...all, byAccuracy: false, fields: null, ofOneApp: false, constants: NO_CONSTANTS };
  if (shape.isSorted && shape.late === null)
    return `SELECT ${RECORD} FROM ${archivedRows(shape)}${valueFilters(shape)}`;
  const keys = shape.order === "time" ? "timestamp, device_id" : "device_id, timestamp";
  return `SELECT * FROM ${matching(shape)} ORDER BY ${keys}`;
}

function tupleJson(fields: readonly LocationField[], shape: ScanShape): string {
  const texts = fields.map((field) => {
    if (!isRead(field, shape)) return "NULL::VARCHAR";
    if (shape.constants.has(field.name)) return `$${constantName(field.name)}::VARCHAR`;
    return field.type === "boolean" ? `${field.name}::VARCHAR` : field.name;
  });
  return `to_json([${texts.join(", ")}])::VARCHAR`;
}

/** Whether a field is shown and not null everywhere. */
function isRead(field: LocationField, shape: ScanShape): boolean {
  return isShown(field, shape) && shape.constants.get(field.name) !== null;
}

function isShown(field: LocationField, { fields }: Pick<ScanShape, "fields">): boolean {
  return fields === null || fields.shows(field);
}

/** The times of the first `$limit` records, in order. */
export function timesStatement(order: Order): ScanStatement {
  return {
    sql: (shape) =>
      `SELECT timestamp::DOUBLE
       FROM (SELECT timestamp FROM ${matching(shape)} ORDER BY timestamp ${order} LIMIT $limit)`,
    columns: filterColumns,
  };
}

/** The times of all matching records of the files, in no order. */
export const ARCHIVED_TIMES_STATEMENT: ScanStatement = {
  sql: (shape) => `SELECT timestamp::DOUBLE FROM ${archivedRows(shape)}${valueFilters(shape)}`,
  columns: filterColumns,
};

/**
 * The number of records in each span of time that has any, by the span's number since 1970, in order. The length is
 * part of the text: as a bound value it would take ten times as long.
 */
export function countBySpanStatement(spanMs: number): ScanStatement {
  return {
    sql: (shape) =>
      `SELECT span::DOUBLE, count(*)::DOUBLE FROM (SELECT timestamp // ${spanMs} AS span FROM ${matching(shape)})
       GROUP BY span ORDER BY span`,
    columns: filterColumns,
  };
}

export const COUNT_STATEMENT: ScanStatement = {
  sql: (shape) => `SELECT count(*)::DOUBLE FROM ${matching(shape)}`,
  columns: filterColumns,
};

export const DEVICES_STATEMENT: ScanStatement = {
  sql: (shape) => `SELECT DISTINCT device_id FROM ${matching(shape)} ORDER BY device_id`,
  columns: filterColumns,
};

/** Devices with their numbers of matching records. */
export const DEVICE_COUNTS_STATEMENT: ScanStatement = {
  sql: (shape) =>
    `SELECT device_id, count(*)::DOUBLE FROM ${matching(shape)} GROUP BY device_id ORDER BY device_id`,
  columns: filterColumns,
};

/** Devices and times of all matching records, in no order. */
export const KEYS_STATEMENT: ScanStatement = {
  sql: (shape) => `SELECT device_id, timestamp::DOUBLE FROM ${matching(shape)}`,
  columns: filterColumns,
};

/**
 * The keys of late rows for which the files have a record, and whether merging leaves that record as it is. Late rows
 * must have one fix each.
 */
export const REPEATS_STATEMENT: ScanStatement = {
  sql(shape) {
    const { late } = shape;
    const isRepeat = VALUE_COLUMNS.map(({ name }) => {
      if (name === "latitude" || name === "longitude") return `n.${name} = o.${name}`;
      return `(n.${name} IS NULL OR n.${name} ${name === "horizontal_accuracy" ? ">=" : "="} o.${name})`;
    }).join(" AND ");
    const lateRows = late === null ? `(${NO_RECORDS_SQL})` : late.rows;
    return `SELECT n.device_id, n.timestamp::DOUBLE, coalesce(${isRepeat}, false)::DOUBLE
      FROM ${lateRows} n JOIN (${archivedRecords(shape)}) o
        ON n.device_id = o.device_id AND n.timestamp = o.timestamp`;
  },
  columns: (shape) => [...filterColumns(shape), ...VALUE_COLUMNS.map(({ name }) => name)],
};

/** Positions by device and time, and the device unless the shape has one. */
export const PATH_STATEMENT: ScanStatement = {
  sql: (shape) =>
    shape.ofDevice
      ? `SELECT latitude, longitude FROM ${matching(shape)} ORDER BY timestamp`
      : `SELECT latitude, longitude, device_id FROM ${matching(shape)} ORDER BY device_id, timestamp`,
  columns: (shape) => [...filterColumns(shape), "latitude", "longitude"],
};

/** Device, time, latitude and longitude of all matching records, by device and time. */
export const TRACKS_STATEMENT = trackStatement([]);

/** Like `TRACKS_STATEMENT`, with the accuracy and the user. */
export const FIXES_STATEMENT = trackStatement(["horizontal_accuracy", "user_id"]);

/** Like `FIXES_STATEMENT`, with the speed and the charge. */
export const WATCHED_STATEMENT = trackStatement([
  ...["horizontal_accuracy", "user_id", "speed", "battery_level"],
]);

function trackStatement(fields: readonly string[]): ScanStatement {
  const columns = ["device_id", "timestamp::DOUBLE", "latitude", "longitude", ...fields].join(", ");
  return {
    sql(shape) {
      const { isSorted, late, hasOldFiles } = shape;
      // DuckDB keeps the order of a file, and sorting a day of some million records takes seconds.
      if (isSorted && late === null && !hasOldFiles)
        return `SELECT ${columns} FROM ${archivedRows(shape)}${valueFilters(shape)}`;
      return `SELECT ${columns} FROM ${matching(shape)} ORDER BY device_id, timestamp`;
    },
    columns: (shape) => [...new Set([...filterColumns(shape), "latitude", "longitude", ...fields])],
  };
}

/** Time, latitude, longitude and some fields of one device's records, oldest first. */
export function positionsStatement(fields: readonly NumberFieldName[]): ScanStatement {
  const columns = ["timestamp::DOUBLE", "latitude", "longitude", ...fields].join(", ");
  return {
    sql(shape) {
      const { isSorted, late, hasOldFiles } = shape;
      // A file without a field would fail in mid-stream, hence no fields. Sorting would delay the first row until all
      // are read.
      if (isSorted && late === null && !hasOldFiles && fields.length === 0)
        return `SELECT ${columns} FROM ${archivedRows(shape)}${valueFilters(shape)}`;
      return `SELECT ${columns} FROM ${matching(shape)} ORDER BY timestamp`;
    },
    columns: (shape) => [...filterColumns(shape), "latitude", "longitude", ...fields],
  };
}

/**
 * Latitude and longitude of all matching records within a box, in no order. The comparison is that of `BoundingBox`.
 */
export function coordinatesStatement(box: BoundingBox | null): ScanStatement {
  const within = box === null ? "" : ` WHERE ${withinBox(box)}`;
  return {
    sql: (shape) => `SELECT latitude, longitude FROM ${matching(shape)}${within}`,
    columns: (shape) => [...filterColumns(shape), "latitude", "longitude"],
  };
}

function withinBox({ west, south, east, north, holdsAntimeridian }: BoundingBox): string {
  const isEast = `longitude >= ${literal(west)}`;
  const isWest = `longitude <= ${literal(east)}`;
  const between = `${isEast} ${west <= east ? "AND" : "OR"} ${isWest}`;
  const longitudes = holdsAntimeridian ? `${between} OR abs(longitude) = 180` : between;
  return `latitude >= ${literal(south)} AND latitude <= ${literal(north)} AND (${longitudes})`;
}

/** Cast from a text: DuckDB reads a number with a dot as a decimal, which may become another double. */
function literal(degrees: number): string {
  return `'${degrees}'::DOUBLE`;
}

/** Columns that decide whether a record matches. */
function filterColumns({ ofUser, byAccuracy }: ScanColumns): string[] {
  const columns = ["app_id", "device_id", "timestamp"];
  if (ofUser) columns.push("user_id");
  if (byAccuracy) columns.push("horizontal_accuracy");
  return columns;
}
