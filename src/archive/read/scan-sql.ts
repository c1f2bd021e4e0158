import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import {
  type LocationField,
  NUMBER_FIELDS,
  type NumberFieldName,
  PROFILE_FIELDS,
  type ResponseKind,
  STATE_FIELDS,
} from "../../model/location-fields.ts";
import type { Order } from "../../model/time/range.ts";
import { NO_RECORDS_SQL, VALUE_COLUMNS } from "../columns.ts";
import type { SqlValues } from "../duckdb/database.ts";
import { overlaySql, type UpperRows } from "../overlay-sql.ts";
import { type ConstantColumns, NO_CONSTANTS } from "./part-chunks.ts";

/*
 * The statements that read parts. Their text follows from a shape alone; every value is bound: `$start` and `$end`
 * always, `$files` if there are files, `$app` if they are not all of one app, `$device`, `$user` and `$accuracy`
 * where the shape asks for them, and what a statement says.
 */
export interface ScanShape {
  readonly ofDevice: boolean;
  readonly ofUser: boolean;
  readonly byAccuracy: boolean;
  readonly hasFiles: boolean;
  /** Whether each file has records of one app alone: that of the scan. */
  readonly ofOneApp: boolean;
  /** The tables of late rows that lie over the files; null if there are none. */
  readonly late: UpperRows | null;
  /** Whether any file is too old to have every column. */
  readonly hasOldFiles: boolean;
  /** Whether the files, read one after the other, give any one device's records in order of time. */
  readonly isSorted: boolean;
  /** Columns with one value for all records of the scan, which are not read: `constantValues` are bound instead. */
  readonly constants: ConstantColumns;
  /** Fields that this response does not show are left out of records; null shows all. */
  readonly shownIn: ResponseKind | null;
  /** More conditions on keys; without them, all devices take part that the other conditions let through. */
  readonly some?: KeyConditions;
}

/** What decides which columns a statement looks at. */
export type ScanColumns = Pick<ScanShape, "ofUser" | "byAccuracy" | "shownIn">;

export interface ScanStatement {
  sql(shape: ScanShape): string;
  /** The columns that it reads. */
  columns(shape: ScanColumns): readonly string[];
  /** Those of them that it only shows; present if the statement leaves out constant columns. */
  readonly shown?: (shape: ScanColumns) => readonly string[];
}

/**
 * Whole records in order, `$limit` of them from `$offset` on: time, number fields, profile and state as a JSON array
 * each, and the device where the shape leaves it open. They are ordered by the plain column: ordered by what it is
 * cast to, DuckDB would not leave out, while it reads, what comes too late for the page.
 */
export function recordsStatement(order: Order): ScanStatement {
  return {
    sql(shape) {
      const { ofDevice, isSorted, late, hasOldFiles } = shape;
      const orderBy = `ORDER BY timestamp ${order}${ofDevice ? "" : `, device_id ${order}`}`;
      const packed = [
        "timestamp::DOUBLE",
        ...NUMBER_FIELDS.map((field) => (isRead(field, shape) ? field.name : "NULL::DOUBLE")),
        tupleJson(PROFILE_FIELDS, shape),
        tupleJson(STATE_FIELDS, shape),
        ...(ofDevice ? [] : ["device_id"]),
      ].join(", ");
      // DuckDB keeps the order of files and of their rows, and stops once it has enough. Planning a statement within
      // another takes it 0.4 ms, of 4.
      if (ofDevice && isSorted && order === "asc" && late === null && !hasOldFiles)
        return `SELECT ${packed} FROM ${archivedRows(shape)}${valueFilters(shape)} LIMIT $limit OFFSET $offset`;
      return `SELECT ${packed} FROM (SELECT * FROM ${matching(shape)} ${orderBy} LIMIT $limit OFFSET $offset)`;
    },
    columns: (shape) => [...filterColumns(shape), ...shownColumns(shape)],
    shown: shownColumns,
  };
}

function shownColumns(shape: ScanColumns): string[] {
  return namesOf(VALUE_COLUMNS.filter(({ field }) => isShown(field!, shape)));
}

/** What a statement shows of columns that it does not read. */
export function constantValues({ constants }: ScanShape): SqlValues {
  const texts = [...constants].filter(([, text]) => text !== null);
  return Object.fromEntries(texts.map(([name, text]) => [constantName(name), text]));
}

function constantName(column: string): string {
  return `constant_${column}`;
}

/** Conditions on keys that a statement over all of an app may have besides. */
export interface KeyConditions {
  /** Only those of `$devices`. */
  readonly isListed: boolean;
  /** Only those behind `$after`, and up to `$last`, in order. */
  readonly isAfter: boolean;
  readonly isUpToLast: boolean;
  /** Only records that come behind `$behindMs` and `$behindDevice`, in order of time. */
  readonly isBehind: boolean;
}

export interface AllRecordsShape extends Pick<ScanShape, "ofDevice" | "ofUser"> {
  readonly some?: KeyConditions;
  readonly hasFiles: boolean;
  /** The tables of late rows that lie over the files; null if there are none. */
  readonly late: UpperRows | null;
  readonly hasOldFiles: boolean;
  /** Whether the files, read one after the other, are in the order that is asked for. */
  readonly isSorted: boolean;
  /** Which of the keys comes first. */
  readonly order: "time" | "device";
}

/** All records in order, as a table of all `VALUE_COLUMNS`, with `device_id` and `timestamp`. */
export function allRecordsSql(given: AllRecordsShape): string {
  const shape = { ...given, byAccuracy: false, shownIn: null, ofOneApp: false, constants: NO_CONSTANTS };
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

/** Whether a field is shown, and has a value anywhere. */
function isRead(field: LocationField, shape: ScanShape): boolean {
  return isShown(field, shape) && shape.constants.get(field.name) !== null;
}

function isShown({ responses }: LocationField, { shownIn }: Pick<ScanShape, "shownIn">): boolean {
  return shownIn === null || responses.includes(shownIn);
}

/** The times of the first `$limit` records in order. */
export function timesStatement(order: Order): ScanStatement {
  return {
    sql: (shape) =>
      `SELECT timestamp::DOUBLE
       FROM (SELECT timestamp FROM ${matching(shape)} ORDER BY timestamp ${order} LIMIT $limit)`,
    columns: filterColumns,
  };
}

/**
 * How many records each span of time has that has any, in order of time, a span by its number since 1970. The length
 * is part of the text: by a bound value it takes ten times as long.
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

/** Devices and times of all matching records, in no order. */
export const KEYS_STATEMENT: ScanStatement = {
  sql: (shape) => `SELECT device_id, timestamp::DOUBLE FROM ${matching(shape)}`,
  columns: filterColumns,
};

/**
 * The late rows of which the files have a record, and whether laying them over it leaves it as it is. Rows are laid
 * over nothing here, and have one fix each.
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
  columns: (shape) => [...filterColumns(shape), ...namesOf(VALUE_COLUMNS)],
};

/** Positions by device and time, then the device where the shape leaves it open. */
export const PATH_STATEMENT: ScanStatement = {
  sql: (shape) =>
    shape.ofDevice
      ? `SELECT latitude, longitude FROM ${matching(shape)} ORDER BY timestamp`
      : `SELECT latitude, longitude, device_id FROM ${matching(shape)} ORDER BY device_id, timestamp`,
  columns: (shape) => [...filterColumns(shape), "latitude", "longitude"],
};

/** Time, latitude and longitude of one device's records, oldest first, and some of their fields. */
export function positionsStatement(fields: readonly NumberFieldName[]): ScanStatement {
  const columns = ["timestamp::DOUBLE", "latitude", "longitude", ...fields].join(", ");
  return {
    sql(shape) {
      const { isSorted, late, hasOldFiles } = shape;
      // That a file lacks a field shows when its turn comes. To sort takes all of them before any row is handed over.
      if (isSorted && late === null && !hasOldFiles && fields.length === 0)
        return `SELECT ${columns} FROM ${archivedRows(shape)}${valueFilters(shape)}`;
      return `SELECT ${columns} FROM ${matching(shape)} ORDER BY timestamp`;
    },
    columns: (shape) => [...filterColumns(shape), "latitude", "longitude", ...fields],
  };
}

/** Latitude and longitude of all matching records of a box, in no order. Compared as `BoundingBox` does. */
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

/** As a text: a number with a dot is a decimal for DuckDB, which need not become the double that it stands for. */
function literal(degrees: number): string {
  return `'${degrees}'::DOUBLE`;
}

/** Columns that tell whether a record matches. */
function filterColumns({ ofUser, byAccuracy }: ScanColumns): string[] {
  const columns = ["app_id", "device_id", "timestamp"];
  if (ofUser) columns.push("user_id");
  if (byAccuracy) columns.push("horizontal_accuracy");
  return columns;
}

/** What tells an app's records apart. */
const ROW_KEYS = ["device_id", "timestamp"];
/** Columns of the tables below. */
const RECORD = [...ROW_KEYS, ...namesOf(VALUE_COLUMNS)].join(", ");

/**
 * The matching records. What a late row may change is looked at after it was laid over its record. All are read once
 * and laid over in one go, unless a condition on values lets DuckDB leave most of them out before: then those that
 * nothing lies over come from a reading of their own.
 */
function matching(shape: ScanShape): string {
  const { late, ofUser, byAccuracy } = shape;
  const archived = archivedRecords(shape);
  const filters = valueFilters(shape);
  if (late === null) return `(${archived}${filters})`;
  const lateRows = `SELECT * FROM ${late.rows} WHERE ${keyFilters(shape)}`;
  const isOfRow = "n.device_id = o.device_id AND n.timestamp = o.timestamp";
  const { fixes } = late;
  if (!ofUser && !byAccuracy) {
    const from = `(${archived}) o FULL JOIN (${lateRows}) n ON ${isOfRow}`;
    const keys = ROW_KEYS.map((name) => ({ name, sql: `coalesce(n.${name}, o.${name})` }));
    return `(${overlaySql({ fixes, from, keys })})`;
  }
  const untouched = `SELECT ${RECORD} FROM (${archived}${filters}) ANTI JOIN ${late.rows} USING (device_id, timestamp)`;
  const from = `(${lateRows}) n LEFT JOIN (${archived}) o ON ${isOfRow}`;
  const laidOver = overlaySql({ fixes, from, keys: ROW_KEYS.map((name) => ({ name, sql: `n.${name}` })) });
  return `(${untouched} UNION ALL SELECT ${RECORD} FROM (${laidOver}) WHERE true${filters})`;
}

/** Records of the files by what files are sorted by: conditions may follow. */
function archivedRecords(shape: ScanShape): string {
  return `SELECT ${RECORD} FROM ${archivedRows(shape)}`;
}

/** Records of the files as a table with all their columns. */
function archivedRows(shape: ScanShape): string {
  if (!shape.hasFiles) return `(${NO_RECORDS_SQL}) WHERE true`;
  const table = shape.hasOldFiles
    ? `(FROM (${NO_RECORDS_SQL})
        UNION ALL BY NAME FROM read_parquet($files, hive_partitioning = false, union_by_name = true))`
    : "read_parquet($files, hive_partitioning = false)";
  return `${table} WHERE ${shape.ofOneApp ? "" : "app_id = $app AND "}${keyFilters(shape)}`;
}

function keyFilters({ ofDevice, some }: ScanShape): string {
  const filters = ["timestamp >= $start AND timestamp < $end"];
  if (ofDevice) filters.push("device_id = $device");
  if (some?.isListed) filters.push("device_id IN (SELECT unnest($devices))");
  if (some?.isAfter) filters.push("device_id > $after");
  if (some?.isUpToLast) filters.push("device_id <= $last");
  if (some?.isBehind)
    filters.push("(timestamp > $behindMs OR (timestamp = $behindMs AND device_id > $behindDevice))");
  return filters.join(" AND ");
}

function valueFilters({ ofUser, byAccuracy }: ScanShape): string {
  const user = ofUser ? " AND user_id = $user" : "";
  const accuracy = byAccuracy ? " AND (horizontal_accuracy IS NULL OR horizontal_accuracy <= $accuracy)" : "";
  return user + accuracy;
}

function namesOf(columns: readonly { readonly name: string }[]): string[] {
  return columns.map(({ name }) => name);
}
