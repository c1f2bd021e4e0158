import { join } from "node:path";
import { VALUE_COLUMNS } from "../../../archive/columns.ts";
import type { Connection } from "../../../archive/duckdb/database.ts";
import { quoteText } from "../../../archive/duckdb/quote-text.ts";
import { type AllRecords, recordStatement } from "../../../archive/read/all-records.ts";
import { addLateRows, createEmptyLateTable, dropLateTable } from "../../../archive/read/late-tables.ts";
import { recordColumns } from "../../../model/record-columns.ts";
import { type ReportBatch, sliceReports } from "../../../model/report-batch.ts";
import { type Cursor, cursorAt, isBehind } from "../cursor.ts";
import type { RecordSink } from "./record-intake.ts";

/*
 * Parquet, written by DuckDB.
 */

export interface ParquetSinkOptions {
  readonly connect: () => Promise<Connection>;
  readonly scratchDirectory: string;
  /** Whether the names of devices and users are replaced. */
  readonly redacts: boolean;
  readonly signal: AbortSignal;
}

/** Records of memory that one file gets. */
const HELD_ROWS_MAX = 65_536;
const VALUES = VALUE_COLUMNS.map(({ name }) => name);

/**
 * Well-known binary of a point: byte order (big-endian, as bits are cast), type, longitude, latitude. DuckDB makes
 * GeoParquet of such a column. Going through text would take three times as long.
 */
const GEOMETRY =
  "st_geomfromwkb('\\x00\\x00\\x00\\x00\\x01'::BLOB || longitude::BIT::BLOB || latitude::BIT::BLOB) AS geometry";

/**
 * Writes Parquet in order of time. DuckDB can't append to a file, so each read makes one; the end joins several files.
 */
export function createParquetSink({
  connect,
  scratchDirectory,
  redacts,
  signal,
}: ParquetSinkOptions): RecordSink {
  const files: string[] = [];
  let records = 0;
  let last: Cursor | null = null;
  let waiting: ReportBatch[] = [];
  let rowsWaiting = 0;

  async function copy(connection: Connection, request: AllRecords): Promise<void> {
    const path = join(scratchDirectory, `${files.length}.parquet`);
    const { sql, values } = recordStatement(request);
    await connection.run(copySql(sql, path), values, signal);
    const counted = await connection.run(COUNT_SQL, { path }, signal);
    records += counted.numbers(0)[0]!;
    files.push(path);
  }

  /** Writes the waiting batches to a file, even if there are none. */
  async function copyWaiting(): Promise<void> {
    const batches = waiting;
    waiting = [];
    rowsWaiting = 0;
    const connection = await connect();
    const late = await createEmptyLateTable(connection, signal);
    try {
      for (const batch of batches)
        await addLateRows(connection, { ...batch, fixes: null }, VALUES, late, signal);
      await copy(connection, { ...OF_MEMORY, late });
    } finally {
      await dropLateTable(connection);
    }
  }

  async function flush(): Promise<void> {
    if (rowsWaiting > 0) await copyWaiting();
  }

  return {
    get records() {
      return records + rowsWaiting;
    },
    async add(batch) {
      const fresh = sliceReports(batch, countWritten(batch, last));
      if (fresh.count === 0) return;
      waiting.push(fresh);
      rowsWaiting += fresh.count;
      last = cursorAt(recordColumns(sliceReports(fresh, fresh.count - 1)), 0);
      if (rowsWaiting >= HELD_ROWS_MAX) await flush();
    },
    flush,
    read: (connection, request) => copy(connection, { ...request, behind: last }),
    async end() {
      if (rowsWaiting > 0 || files.length === 0) await copyWaiting();
      const [first] = files;
      if (files.length === 1 && !redacts && records > 0) return first!;
      const path = join(scratchDirectory, "export.parquet");
      const connection = await connect();
      const to = `${quoteText(path)} ${records > 0 ? PARQUET : EMPTY_PARQUET}`;
      await connection.run(redacts ? redactSql(to) : joinSql(to), { files }, signal);
      return path;
    },
  };
}

/** Everything in the table of late rows. */
const OF_MEMORY: Omit<AllRecords, "late"> = {
  hidden: null,
  mask: null,
  aliases: [],
  appId: "" as AllRecords["appId"], // No file is read, so the app does not matter.
  range: { startMs: Number.MIN_SAFE_INTEGER, endMs: Number.MAX_SAFE_INTEGER },
  order: "time",
  deviceIds: null,
  afterDeviceId: null,
  lastDeviceId: null,
  behind: null,
  userId: null,
  paths: [],
  hasOldFiles: false,
  isSorted: true,
};

function countWritten(batch: ReportBatch, last: Cursor | null): number {
  if (last === null || batch.count === 0 || batch.timestampMs[0]! > last.timestampMs) return 0;
  const records = recordColumns(batch);
  let count = 0;
  while (count < records.count && !isBehind(last, records, count, "time")) count++;
  return count;
}

const COUNT_SQL = "SELECT count(*)::DOUBLE FROM read_parquet($path)";
const PARQUET = "(FORMAT parquet, COMPRESSION zstd)";
/** DuckDB writes the metadata of GeoParquet 1.0 only if there is a point. Readers of an empty file need it too. */
const EMPTY_PARQUET = `(FORMAT parquet, COMPRESSION zstd, KV_METADATA {geo: ${quoteText(
  JSON.stringify({
    version: "1.0.0",
    primary_column: "geometry",
    columns: { geometry: { encoding: "WKB", geometry_types: [] } },
  }),
)}})`;

function copySql(records: string, path: string): string {
  const columns = ["device_id", "timestamp", ...VALUES, GEOMETRY].join(", ");
  return `COPY (SELECT ${columns} FROM (${records})) TO ${quoteText(path)} ${PARQUET}`;
}

const FILES = "(SELECT * EXCLUDE (geometry) FROM read_parquet($files))";

function joinSql(to: string): string {
  return `COPY (SELECT *, ${GEOMETRY} FROM ${FILES}) TO ${to}`;
}

/** Devices are numbered in order of first appearance, as in texts. */
function redactSql(to: string): string {
  const names = `SELECT device_id, row_number() OVER (ORDER BY min(timestamp), device_id) AS number
    FROM ${FILES} GROUP BY device_id`;
  return `COPY (
      SELECT * EXCLUDE (number) REPLACE ('device-' || number AS device_id, NULL::VARCHAR AS user_id), ${GEOMETRY}
      FROM (SELECT f.*, n.number FROM ${FILES} f JOIN (${names}) n USING (device_id)
        ORDER BY f.timestamp, f.device_id)
    ) TO ${to}`;
}
