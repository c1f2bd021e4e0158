import type { PendingErasure } from "../../model/erasure.ts";
import { ANONYMOUS } from "../../model/ids.ts";
import { STORED_FIELDS } from "../../model/location-fields.ts";
import { type UtcDay, utcDayName } from "../../model/time/utc-day.ts";
import { ARCHIVE_COLUMNS, KEY_COLUMNS, NO_RECORDS_SQL, VALUE_COLUMNS } from "../columns.ts";
import type { SqlValues } from "../duckdb/database.ts";
import { quoteText } from "../duckdb/quote-text.ts";
import { overlaySql, type UpperRows } from "../overlay-sql.ts";
import { readStagedSql } from "./staged-rows.ts";

// The statements that make parts. They use temporary tables: `staged`, the rows to merge into a day; `fixes`, the fixes
// of rows that have several, if there are any; and `shared` with the rows that a part has a record for: (part, staged,
// changes), the index of the part, a `rowid` of `staged`, and whether merging changes the record. `erased` has what to
// erase from the day, if there is anything.

const NAMES = ARCHIVE_COLUMNS.map(({ name }) => name).join(", ");
const KEYS = KEY_COLUMNS.join(", ");

/** A part as a table with all columns, null where an older file lacks them. */
export function partTable(path: string): string {
  return `(SELECT ${NAMES} FROM (FROM (${NO_RECORDS_SQL})
    UNION ALL BY NAME FROM read_parquet(${quoteText(path)}, hive_partitioning = false)))`;
}

/** Each row names an erasure, a device or a user, and a range. The id that does not count is empty, as no id is. */
export const CREATE_ERASED = `CREATE TEMP TABLE erased AS SELECT unnest($erasures)::DOUBLE AS erasure,
  unnest($apps) AS app_id, unnest($devices) AS device_id, unnest($users) AS user_id,
  unnest($starts)::DOUBLE AS start_ms, unnest($ends)::DOUBLE AS end_ms`;

export function erasedValues(erasures: readonly PendingErasure[]): SqlValues {
  const rows = erasures.flatMap(({ deviceIds, userId, ...erasure }) =>
    (userId === null ? deviceIds : [""]).map((deviceId) => ({ ...erasure, deviceId, userId: userId ?? "" })),
  );
  return {
    erasures: rows.map(({ sequence }) => String(sequence)),
    apps: rows.map(({ appId }) => appId),
    devices: rows.map(({ deviceId }) => deviceId),
    users: rows.map(({ userId }) => userId),
    starts: rows.map(({ range }) => String(range.startMs)),
    ends: rows.map(({ range }) => String(range.endMs)),
  };
}

const IS_ERASED = `e.app_id = r.app_id AND (e.device_id = r.device_id OR e.user_id = r.user_id)
  AND r.timestamp >= e.start_ms AND r.timestamp < e.end_ms`;

/** The records of a table that are not erased, as a table. */
export function withoutErased(table: string): string {
  return `(SELECT ${NAMES} FROM ${table} r ANTI JOIN erased e ON ${IS_ERASED})`;
}

/** How many records of a part each erasure erases. A record counts for the first. */
export function countErasedSql(path: string): string {
  return `SELECT erasure::BIGINT::VARCHAR, count(*)::DOUBLE FROM (
      SELECT min(e.erasure) AS erasure FROM ${partTable(path)} r JOIN erased e ON ${IS_ERASED}
      GROUP BY r.app_id, r.device_id, r.timestamp
    ) GROUP BY erasure`;
}

/** Columns of rows as they are, or of new records of a day: those without a user become anonymous. */
export function columnsSql(asRecords: boolean): string {
  if (!asRecords) return NAMES;
  return ARCHIVE_COLUMNS.map(({ name }) =>
    name === "user_id" ? `coalesce(${name}, '${ANONYMOUS}') AS ${name}` : name,
  ).join(", ");
}

export function createStagedSql(paths: readonly string[]): string {
  return `CREATE TEMP TABLE staged AS SELECT ${columnsSql(false)} FROM ${readStagedSql(paths)}`;
}

export const FIX_TABLE = "fixes";

/** The fixes of a row are consecutive in the file. */
export function createFixesSql(path: string): string {
  return `CREATE TEMP TABLE ${FIX_TABLE} AS
    SELECT ${columnsSql(false)}, row_number() OVER () AS turn FROM ${readStagedSql([path])}`;
}

export const CREATE_SHARED = "CREATE TEMP TABLE shared (part INTEGER, staged BIGINT, changes BOOLEAN)";

/** Finds the rows of `staged` for which the part at `index`, a table, has a record. */
export function insertSharedSql(index: number, table: string, fixes: UpperRows["fixes"]): string {
  const laid = overlaySql({
    fixes,
    from: `staged n JOIN ${table} o ON ${sameKey("n", "o")}`,
    keys: KEYS_OF_PART,
    also: [
      { name: "staged", sql: "n.rowid" },
      ...VALUE_COLUMNS.map(({ name }) => ({ name: `before_${name}`, sql: `o.${name}` })),
    ],
  });
  return `INSERT INTO shared SELECT ${index}, staged, ${CHANGES} FROM (${laid})`;
}

const KEYS_OF_PART = KEY_COLUMNS.map((name) => ({ name, sql: `o.${name}` }));

const CHANGES = VALUE_COLUMNS.map(({ name }) => `${name} IS DISTINCT FROM before_${name}`).join(" OR ");

/** Indexes of the parts that change. */
export const SELECT_CHANGED_PARTS = "SELECT DISTINCT part::DOUBLE FROM shared WHERE changes";

/** The number of rows of `staged` without a record in any part. */
export const COUNT_NEW = "SELECT ((SELECT count(*) FROM staged) - (SELECT count(*) FROM shared))::DOUBLE";

/** The `rowid` of a row without a record in any part, by its index among them. */
export function selectNewRowSql(index: number): string {
  return `SELECT rowid::DOUBLE FROM staged WHERE ${IS_NEW} ORDER BY rowid LIMIT 1 OFFSET ${index}`;
}

const IS_NEW = "rowid NOT IN (SELECT staged FROM shared)";

export function partRecordsSql(table: string): string {
  return `SELECT ${NAMES} FROM ${table}`;
}

/** Records of the part at `index`, with the rows of `staged` merged into them. */
export function overlaidRecordsSql(index: number, table: string, fixes: UpperRows["fixes"]): string {
  const changes = `SELECT * FROM staged WHERE rowid IN (SELECT staged FROM shared WHERE part = ${index} AND changes)`;
  const laid = overlaySql({
    fixes,
    from: `${table} o LEFT JOIN (${changes}) n ON ${sameKey("n", "o")}`,
    keys: KEYS_OF_PART,
    withPosition: ["h3_cell"],
  });
  return `SELECT ${NAMES} FROM (${laid})`;
}

/** New records: rows of `staged` without a record in any part, from one `rowid` to another, inclusive. */
export function newRecordsSql(first: number, last: number): string {
  return `SELECT ${columnsSql(true)} FROM staged WHERE ${IS_NEW} AND rowid BETWEEN ${first} AND ${last}`;
}

/** All records of some queries, sorted like a part. */
export function sortedSql(queries: readonly string[]): string {
  return `FROM (${queries.join(" UNION ALL ")}) ORDER BY ${KEYS}`;
}

function sameKey(a: string, b: string): string {
  return KEY_COLUMNS.map((name) => `${a}.${name} = ${b}.${name}`).join(" AND ");
}

export interface PartMetadata {
  /** Null for the checkpoint. */
  readonly day: UtcDay | null;
  readonly sequence: number;
  /** What erasures up to this entry of the log destroy is not in the day's parts, if this one is among them. */
  readonly cleared: number;
  readonly replaces: readonly { readonly file: string }[];
}

/** Column numbers as Parquet's field ids, so that a file itself tells which field each column is. */
const FIELD_IDS = STORED_FIELDS.map(({ name, columnNumber }) => `${name}: ${columnNumber}`).join(", ");

/** Writes the rows of a query to a Parquet file. The query must be sorted by the keys. */
export function copySql(
  query: string,
  path: string,
  { day, sequence, cleared, replaces }: PartMetadata,
): string {
  const metadata = {
    wherehouse_format: "1",
    wherehouse_day: day === null ? "latest" : utcDayName(day),
    wherehouse_sequence: String(sequence),
    wherehouse_cleared: String(cleared),
    wherehouse_replaces: JSON.stringify(replaces.map(({ file }) => file)),
  };
  const pairs = Object.entries(metadata).map(([key, value]) => `${key}: ${quoteText(value)}`);
  return `COPY (${query}) TO ${quoteText(path)} (
    FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20480, PARQUET_VERSION v2, USE_TMP_FILE false,
    FIELD_IDS {${FIELD_IDS}}, KV_METADATA {${pairs.join(", ")}})`;
}

/** The number of a part's rows by app. */
export function countAppsSql(path: string): string {
  return `SELECT app_id, count(*)::DOUBLE FROM read_parquet(${quoteText(path)}) GROUP BY app_id ORDER BY app_id`;
}
