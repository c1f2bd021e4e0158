import { DuckDBInstance, type DuckDBValue } from "@duckdb/node-api";
import { VALUE_COLUMNS } from "../../../src/archive/database/columns.ts";
import type { ArchiveConfig } from "../../../src/config.ts";
import { LOCATION_FIELDS, type ResponseKind } from "../../../src/model/location-fields.ts";
import { SERVED_APP } from "./archived-directory.ts";

/*
 * The control of the archive's benches: what somebody who knows DuckDB and these files would write, in a DuckDB
 * of this process with the settings of the server's. Several ways to write each, since none is the fastest always.
 */

/** A record as the API spells it, without what it derives. */
export type Row = Readonly<Record<string, unknown>>;

/** A question about some files of the archive, which are in order of days. */
export interface Question {
  readonly files: readonly string[];
  readonly startMs: number;
  readonly endMs: number;
  /** Null asks for the whole app. */
  readonly deviceId: string | null;
  readonly offset: number;
  readonly limit: number;
}

/** One way to write the statements for a question. */
export interface Formulation {
  readonly name: string;
  ask(question: Question): Promise<HandAnswer>;
}

/** DuckDB's answer, complete and in this process; reading it is left out of the time. */
export interface HandAnswer {
  rows(): readonly Row[];
  /** Devices with a record, where they were counted. */
  readonly devices: number | null;
}

export interface HandWritten {
  readonly devicePage: readonly Formulation[];
  readonly devicePageDeep: readonly Formulation[];
  readonly appPage: readonly Formulation[];
  close(): void;
}

type Result = Awaited<ReturnType<Awaited<ReturnType<DuckDBInstance["connect"]>>["run"]>>;
type Chunks = Awaited<ReturnType<Result["fetchAllChunks"]>>;

const DEVICE_COLUMNS = columnsOf("deviceHistory");
const APP_COLUMNS = columnsOf("appHistory");

const OF_APP = "app_id = $app AND timestamp >= $start AND timestamp < $end";
const OF_DEVICE = `${OF_APP} AND device_id = $device`;

export async function openHandWritten(settings: ArchiveConfig): Promise<HandWritten> {
  const instance = await DuckDBInstance.create(":memory:", {
    threads: String(settings.archiveThreads),
    memory_limit: `${settings.archiveMemoryBytes / 1_000_000}MB`,
  });
  const connection = await instance.connect();
  await connection.run("SET parquet_metadata_cache = true");

  async function run(sql: string, values: Record<string, DuckDBValue>): Promise<Chunks> {
    return (await connection.run(sql, values)).fetchAllChunks();
  }

  function page(name: string, columns: readonly string[], sqlOf: (from: string) => string): Formulation {
    return {
      name,
      async ask(question) {
        const chunks = await run(sqlOf(tableOf(question)), valuesOf(question));
        return { rows: () => rowsOf(chunks, columns), devices: null };
      },
    };
  }

  function withDevices(formulation: Formulation): Formulation {
    return {
      name: formulation.name,
      async ask(question) {
        const { rows } = await formulation.ask(question);
        const { app, start, end } = valuesOf(question);
        const sql = `SELECT count(DISTINCT device_id)::DOUBLE FROM ${tableOf(question)} WHERE ${OF_APP}`;
        const [counted] = await run(sql, { app: app!, start: start!, end: end! });
        return { rows, devices: counted!.getColumnVector(0).getItem(0) as number };
      },
    };
  }

  const select = DEVICE_COLUMNS.join(", ");
  const selectApp = APP_COLUMNS.join(", ");
  const ordered = page(
    "ORDER BY timestamp",
    DEVICE_COLUMNS,
    (from) =>
      `SELECT ${select} FROM ${from} WHERE ${OF_DEVICE} ORDER BY timestamp LIMIT $limit OFFSET $offset`,
  );
  const asFiled = page(
    "no ORDER BY, since the files are sorted",
    DEVICE_COLUMNS,
    (from) => `SELECT ${select} FROM ${from} WHERE ${OF_DEVICE} LIMIT $limit OFFSET $offset`,
  );
  return {
    devicePage: [ordered, asFiled],
    devicePageDeep: [
      ordered,
      asFiled,
      page(
        "the page's times first",
        DEVICE_COLUMNS,
        (from) => `WITH page AS MATERIALIZED
          (SELECT timestamp FROM ${from} WHERE ${OF_DEVICE} ORDER BY timestamp LIMIT $limit OFFSET $offset)
          SELECT ${select} FROM ${from} WHERE ${OF_DEVICE}
            AND timestamp BETWEEN (SELECT min(timestamp) FROM page) AND (SELECT max(timestamp) FROM page)
          ORDER BY timestamp`,
      ),
    ],
    appPage: [
      withDevices(
        page(
          "ORDER BY timestamp, device_id",
          APP_COLUMNS,
          (from) =>
            `SELECT ${selectApp} FROM ${from} WHERE ${OF_APP} ORDER BY timestamp, device_id LIMIT $limit OFFSET $offset`,
        ),
      ),
      withDevices(
        page(
          "the page's times first",
          APP_COLUMNS,
          (from) => `WITH page AS MATERIALIZED
            (SELECT timestamp FROM ${from} WHERE ${OF_APP} ORDER BY timestamp, device_id LIMIT $limit OFFSET $offset)
            SELECT ${selectApp} FROM ${from} WHERE ${OF_APP} AND timestamp <= (SELECT max(timestamp) FROM page)
            ORDER BY timestamp, device_id LIMIT $limit OFFSET $offset`,
        ),
      ),
    ],
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** Paths are written out, as by hand; all else is bound. */
function tableOf({ files }: Question): string {
  return `read_parquet([${files.map((file) => `'${file}'`).join(", ")}], hive_partitioning = false)`;
}

function valuesOf({ startMs, endMs, deviceId, offset, limit }: Question): Record<string, DuckDBValue> {
  return {
    app: SERVED_APP,
    start: BigInt(startMs),
    end: BigInt(endMs),
    ...(deviceId === null ? {} : { device: deviceId }),
    offset: BigInt(offset),
    limit: BigInt(limit),
  };
}

/** Columns of the files that a kind of answer shows. */
function columnsOf(kind: ResponseKind): string[] {
  const inFiles = new Set(["device_id", "timestamp", ...VALUE_COLUMNS.map(({ name }) => name)]);
  return LOCATION_FIELDS.filter(({ name, responses }) =>
    (responses as readonly ResponseKind[]).includes(kind) ? inFiles.has(name) : false,
  ).map(({ name }) => name);
}

function rowsOf(chunks: Chunks, columns: readonly string[]): Row[] {
  return chunks.flatMap((chunk) =>
    Array.from({ length: chunk.rowCount }, (_, row) =>
      Object.fromEntries(
        columns.map((name, column) => {
          const value = chunk.getColumnVector(column).getItem(row);
          return [name, typeof value === "bigint" ? Number(value) : value];
        }),
      ),
    ),
  );
}
