import type { FieldChoice } from "../../model/field-choice.ts";
import { NO_RECORDS_SQL, VALUE_COLUMNS } from "../columns.ts";
import { unmaskedSql } from "../masks.ts";
import { overlaySql, type UpperRows } from "../overlay-sql.ts";
import { type AliasShape, IS_NOT_ALIASED_SQL, isAliasedSql, renamedSql } from "./alias-sql.ts";
import type { ConstantColumns } from "./part-chunks.ts";

// The records that match a scan, as tables for its statements: those of the files, with late rows merged in. Their text
// depends on the shape only. All values are bound: `$start` and `$end` always, `$files` if there are files, `$app` if
// they have other apps too, `$device`, `$user` and `$accuracy` if the shape has these conditions, `aliasValues()` if it
// has aliases, which then name the device, and `MaskValues` if it is masked.
export interface ScanShape {
  readonly ofDevice: boolean;
  readonly ofUser: boolean;
  readonly byAccuracy: boolean;
  readonly hasFiles: boolean;
  /** Whether the files have records of the scan's app only. */
  readonly ofOneApp: boolean;
  /** The tables of late rows to merge into the files' records; null if there are none. */
  readonly late: UpperRows | null;
  /** The table of the keys whose records are left out; null if there are none. */
  readonly hidden: string | null;
  /** Whether records of the files are left out that a mask names. */
  readonly isMasked: boolean;
  /** If records show as those of other devices. Files and late rows have the devices that reported. */
  readonly aliases: AliasShape | null;
  /** Whether any file lacks a column. */
  readonly hasOldFiles: boolean;
  /**
   * Whether the files, read one after the other, have the records of each device in order of time, and are read so:
   * not if records are hidden or masked, or show as those of other devices.
   */
  readonly isSorted: boolean;
  /** Columns with one value in all records of the scan. They are not read; `constantValues()` are bound instead. */
  readonly constants: ConstantColumns;
  /** The fields to show; null shows all. */
  readonly fields: FieldChoice | null;
  /** Further conditions on keys. */
  readonly some?: KeyConditions;
}

/** Further conditions on keys for a statement over all of an app. */
export interface KeyConditions {
  /** Only devices in `$devices`. */
  readonly isListed: boolean;
  /** Only devices after `$after`, and up to `$last`, in UTF-8 order. */
  readonly isAfter: boolean;
  readonly isUpToLast: boolean;
  /** Only records after `$behindMs` and `$behindDevice`, in order of time. */
  readonly isBehind: boolean;
}

/** Identifies a record within an app. */
const ROW_KEYS = ["device_id", "timestamp"];
/** Columns of the tables below. */
export const RECORD = [...ROW_KEYS, ...VALUE_COLUMNS.map(({ name }) => name)].join(", ");

/**
 * The matching records. Conditions on values apply after late rows are merged. All records are read and merged
 * together, unless a condition on values lets DuckDB skip most of them: then the records without a late row are read
 * separately.
 */
export function matching(shape: ScanShape): string {
  const { aliases, hidden } = shape;
  if (aliases === null) return matchingAsReported(shape, "any");
  const asReported = matchingAsReported({ ...shape, ofUser: false, byAccuracy: false }, "aliased");
  const filters = shownFilters(shape) + valueFilters(shape);
  const renamed = `SELECT ${RECORD} FROM (${renamedSql(asReported, hidden)}) WHERE true${filters}`;
  if (shape.ofDevice) return `(${renamed})`;
  return `(SELECT ${RECORD} FROM ${matchingAsReported(shape, "others")} UNION ALL ${renamed})`;
}

/** The devices that a part of a statement reads: all that match, those with aliases, or those without. */
type Devices = "any" | "aliased" | "others";

/** The matching records with the devices that reported. */
function matchingAsReported(shape: ScanShape, devices: Devices): string {
  const { late, ofUser, byAccuracy } = shape;
  const archived = archivedRecords(shape, devices);
  const filters = valueFilters(shape);
  if (late === null) return `(${archived}${filters})`;
  const lateRows = `SELECT * FROM ${late.rows} WHERE ${keyFilters(shape, devices)}`;
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

/** Records of the files by conditions on keys; further conditions may be appended. */
export function archivedRecords(shape: ScanShape, devices: Devices = "any"): string {
  return `SELECT ${RECORD} FROM ${archivedRows(shape, devices)}`;
}

/** Rows of the files with all their columns. */
export function archivedRows(shape: ScanShape, devices: Devices = "any"): string {
  // No row has to meet the conditions, but they name the values that are bound.
  if (!shape.hasFiles) return `(${NO_RECORDS_SQL}) WHERE ${keyFilters(shape, devices)}`;
  const table = shape.hasOldFiles
    ? `(FROM (${NO_RECORDS_SQL})
        UNION ALL BY NAME FROM read_parquet($files, hive_partitioning = false, union_by_name = true))`
    : "read_parquet($files, hive_partitioning = false)";
  const all = `${table} WHERE ${shape.ofOneApp ? "" : "app_id = $app AND "}${keyFilters(shape, devices)}`;
  const rows = shape.isMasked ? unmaskedSql(`SELECT * FROM ${all}`) : all;
  if (shape.hidden === null) return rows;
  // A day of 72,000 records takes 3 ms; with NOT EXISTS it takes 20.
  return `(SELECT * FROM ${rows}) ANTI JOIN ${shape.hidden} USING (device_id, timestamp) WHERE true`;
}

function keyFilters(shape: ScanShape, devices: Devices): string {
  const inTime = "timestamp >= $start AND timestamp < $end";
  if (devices === "aliased") return `${inTime} AND ${isAliasedSql(shape.aliases!)}`;
  const isOther = devices === "others" ? ` AND ${IS_NOT_ALIASED_SQL}` : "";
  const ofDevice = shape.ofDevice ? " AND device_id = $device" : "";
  return inTime + ofDevice + isOther + shownFilters(shape);
}

/** Further conditions on keys, as they are shown. */
function shownFilters({ some }: ScanShape): string {
  const filters: string[] = [];
  if (some?.isListed) filters.push("device_id IN (SELECT unnest($devices))");
  if (some?.isAfter) filters.push("device_id > $after");
  if (some?.isUpToLast) filters.push("device_id <= $last");
  if (some?.isBehind)
    filters.push("(timestamp > $behindMs OR (timestamp = $behindMs AND device_id > $behindDevice))");
  return filters.map((filter) => ` AND ${filter}`).join("");
}

export function valueFilters({ ofUser, byAccuracy }: ScanShape): string {
  const user = ofUser ? " AND user_id = $user" : "";
  const accuracy = byAccuracy ? " AND (horizontal_accuracy IS NULL OR horizontal_accuracy <= $accuracy)" : "";
  return user + accuracy;
}
