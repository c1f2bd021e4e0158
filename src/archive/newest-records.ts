import type { AppId } from "../model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { createReportBatchBuilder, type ReportBatch } from "../model/report-batch.ts";
import { NO_RECORDS_SQL, VALUE_COLUMNS } from "./columns.ts";
import type { Connection, Rows } from "./duckdb/database.ts";
import { type MaskValues, unmaskedSql } from "./masks.ts";

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

/** Keys of records that corrections hide: their app, with the devices and times of a batch without values. */
export type HiddenBatch = NewestBatch;

const HIDDEN_TABLE = "hidden_keys";

/** Creates the table of hidden keys for `findNewest()`. */
export async function createHiddenKeys(connection: Connection, hidden: Iterable<HiddenBatch>): Promise<void> {
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE ${HIDDEN_TABLE} (app_id VARCHAR, device_id VARCHAR, timestamp BIGINT)`,
  );
  for (const { appId, batch } of hidden) {
    const { count, device, timestampMs, texts } = batch;
    const rows = {
      device_id: Array.from(device.subarray(0, count), (text) => texts[text]!),
      timestamp: Array.from(timestampMs.subarray(0, count)),
    };
    await connection.run(
      `INSERT INTO ${HIDDEN_TABLE} SELECT $app, unnest(rows.device_id), unnest(rows.timestamp)
       FROM (SELECT from_json($rows, '{"device_id":["VARCHAR"],"timestamp":["BIGINT"]}') AS rows)`,
      { app: appId, rows: JSON.stringify(rows) },
    );
  }
}

/**
 * The newest record of each device in a part of a day, for a start without the checkpoint: of those that are hidden,
 * and of the others. Needs `createHiddenKeys()` once.
 */
export async function* findNewest(connection: Connection, path: string): AsyncGenerator<NewestBatch> {
  const rows = await connection.run(
    `SELECT ${COLUMNS} FROM ${fileTable("")} LEFT JOIN (SELECT *, true AS is_hidden FROM ${HIDDEN_TABLE})
       USING (app_id, device_id, timestamp)
     QUALIFY row_number() OVER (PARTITION BY app_id, device_id, is_hidden ORDER BY timestamp DESC) = 1
     ORDER BY app_id`,
    { path },
  );
  yield* batchesOf(rows);
}

/**
 * How many devices of an app have a newer record in the parts than in the checkpoint, or are missing there. What the
 * mask names does not count.
 */
export async function countUnlisted(
  connection: Connection,
  appId: AppId,
  parts: readonly string[],
  checkpoint: readonly string[],
  mask: MaskValues | null,
): Promise<number> {
  const tableOf = (files: string) =>
    `SELECT * FROM read_parquet(${files}, hive_partitioning = false) WHERE app_id = $app`;
  const newest = (table: string) =>
    `SELECT device_id, max(timestamp) AS newest FROM (${table}) GROUP BY device_id`;
  const listed =
    checkpoint.length > 0
      ? newest(tableOf("$checkpoint"))
      : "SELECT NULL AS device_id, 0 AS newest WHERE false";
  const archived = mask === null ? tableOf("$parts") : `SELECT * FROM ${unmaskedSql(tableOf("$parts"))}`;
  const rows = await connection.run(
    `SELECT count(*)::DOUBLE FROM (${newest(archived)}) o LEFT JOIN (${listed}) n USING (device_id)
     WHERE n.newest IS NULL OR n.newest < o.newest`,
    { parts, app: appId, ...(checkpoint.length > 0 ? { checkpoint } : {}), ...mask },
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
