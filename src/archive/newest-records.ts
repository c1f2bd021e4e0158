import type { AppId } from "../model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { createReportBatchBuilder, type ReportBatch } from "../model/report-batch.ts";
import { NO_RECORDS_SQL, VALUE_COLUMNS } from "./columns.ts";
import type { Connection, Rows } from "./duckdb/database.ts";

// Reads the newest archived record of every device, from the checkpoint or from the parts of days.

/** Newest records of some devices of one app, with all their fields. */
export interface NewestBatch {
  readonly appId: AppId;
  readonly batch: ReportBatch;
}

/** Rows per statement, and the most rows of a batch. */
const ROWS_A_BATCH = 10_000;

const COLUMNS = ["app_id", "device_id", "timestamp::DOUBLE", ...VALUE_COLUMNS.map(({ name }) => name)].join(
  ", ",
);

/** A file as a table with all columns, null where an older file lacks them. */
function fileTable(options: string): string {
  return `(FROM (${NO_RECORDS_SQL}) UNION ALL BY NAME FROM read_parquet($path, hive_partitioning = false${options}))`;
}

/** Reads a file of the checkpoint, which has each device at most once. */
export async function* readNewest(connection: Connection, path: string): AsyncGenerator<NewestBatch> {
  for (let from = 0; ; from += ROWS_A_BATCH) {
    const rows = await connection.run(
      `SELECT ${COLUMNS} FROM ${fileTable(", file_row_number = true")}
       WHERE file_row_number >= $from AND file_row_number < $to ORDER BY file_row_number`,
      { path, from: BigInt(from), to: BigInt(from + ROWS_A_BATCH) },
    );
    yield* batchesOf(rows);
    if (rows.count < ROWS_A_BATCH) return;
  }
}

/** The newest record of each device in a part of a day, for a start without the checkpoint. */
export async function* findNewest(connection: Connection, path: string): AsyncGenerator<NewestBatch> {
  const rows = await connection.run(
    `SELECT ${COLUMNS} FROM ${fileTable("")}
     QUALIFY row_number() OVER (PARTITION BY app_id, device_id ORDER BY timestamp DESC) = 1 ORDER BY app_id`,
    { path },
  );
  yield* batchesOf(rows);
}

/** How many devices have a newer record in the parts than in the checkpoint, or are missing there. */
export async function countUnlisted(
  connection: Connection,
  parts: readonly string[],
  checkpoint: readonly string[],
): Promise<number> {
  const newest = (files: string) =>
    `SELECT app_id, device_id, max(timestamp) AS newest FROM read_parquet(${files}, hive_partitioning = false)
     GROUP BY app_id, device_id`;
  const listed =
    checkpoint.length > 0
      ? newest("$checkpoint")
      : "SELECT NULL AS app_id, NULL AS device_id, 0 AS newest WHERE false";
  const rows = await connection.run(
    `SELECT count(*)::DOUBLE FROM (${newest("$parts")}) o LEFT JOIN (${listed}) n USING (app_id, device_id)
     WHERE n.newest IS NULL OR n.newest < o.newest`,
    { parts, ...(checkpoint.length > 0 ? { checkpoint } : {}) },
  );
  return rows.numbers(0)[0]!;
}

const FIRST_VALUE = 3;

function* batchesOf(rows: Rows): Generator<NewestBatch> {
  const apps = rows.texts(0);
  for (let start = 0; start < rows.count; ) {
    let end = start + 1;
    while (end < rows.count && end - start < ROWS_A_BATCH && apps[end] === apps[start]) end++;
    yield { appId: apps[start] as AppId, batch: batchOf(rows, start, end) };
    start = end;
  }
}

/** The kind of field that each value belongs to, and the index within that kind. */
const TARGETS = VALUE_COLUMNS.map(({ field, type }, column) => {
  const kind = field?.column === "number" ? "numbers" : field?.column === "profile" ? "profile" : "state";
  const fields = { numbers: NUMBER_FIELDS, profile: PROFILE_FIELDS, state: STATE_FIELDS }[kind];
  return {
    column: FIRST_VALUE + column,
    kind,
    type,
    index: fields.findIndex(({ name }) => name === field?.name),
  } as const;
});

function batchOf(rows: Rows, start: number, end: number): ReportBatch {
  const builder = createReportBatchBuilder(end - start);
  const deviceIds = rows.texts(1);
  const timestamps = rows.numbers(2);
  const columns = TARGETS.map(({ column, type }) => {
    if (type === "DOUBLE") return rows.numbers(column);
    return type === "BOOLEAN" ? rows.booleans(column) : rows.texts(column);
  });
  for (let row = start; row < end; row++) {
    builder.begin();
    TARGETS.forEach(({ kind, index }, target) => {
      const value = columns[target]![row];
      if (value === null || value === undefined) return;
      builder[kind][index] = typeof value === "number" ? value : builder.text(String(value));
    });
    builder.add(builder.text(deviceIds[row]!), timestamps[row]!);
  }
  return builder.build();
}
