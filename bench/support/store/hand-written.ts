import { DuckDBInstance, type DuckDBValue } from "@duckdb/node-api";
import type { ArchiveConfig } from "../../../src/app/config.ts";
import { VALUE_COLUMNS } from "../../../src/archive/columns.ts";
import { LOCATION_FIELDS, type ResponseKind } from "../../../src/model/location-fields.ts";
import { SERVED_APP } from "./archived-directory.ts";

/*
 * The control of the archive's benches: hand-written queries in a DuckDB of this process with the server's settings.
 * There are several formulations, since none is always the fastest.
 */

/** A record with the API's names, without derived fields. */
export type Row = Readonly<Record<string, unknown>>;

/** A query of some files of the archive, in order of days. */
export interface Question {
  readonly files: readonly string[];
  readonly startMs: number;
  readonly endMs: number;
  /** Null for the whole app. */
  readonly deviceId: string | null;
  readonly offset: number;
  readonly limit: number;
}

/** A way to write the statements of a query. */
export interface Formulation {
  readonly name: string;
  ask(question: Question): Promise<HandAnswer>;
}

/** DuckDB's complete answer in this process; reading it is not timed. */
export interface HandAnswer {
  rows(): readonly Row[];
  /** The number of devices with a record, if counted. */
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
const SELECT_DEVICE = `SELECT ${DEVICE_COLUMNS.join(", ")} FROM`;
const SELECT_APP = `SELECT ${APP_COLUMNS.join(", ")} FROM`;

const OF_APP = "app_id = $app AND timestamp >= $start AND timestamp < $end";
const OF_DEVICE = `${OF_APP} AND device_id = $device`;

/** The statement for a page of rows. */
interface Statement {
  readonly name: string;
  readonly columns: readonly string[];
  sqlOf(table: string): string;
}

const ORDERED: Statement = {
  name: "ORDER BY timestamp",
  columns: DEVICE_COLUMNS,
  sqlOf: (table) =>
    `${SELECT_DEVICE} ${table} WHERE ${OF_DEVICE} ORDER BY timestamp LIMIT $limit OFFSET $offset`,
};

const AS_FILED: Statement = {
  name: "no ORDER BY, since the files are sorted",
  columns: DEVICE_COLUMNS,
  sqlOf: (table) => `${SELECT_DEVICE} ${table} WHERE ${OF_DEVICE} LIMIT $limit OFFSET $offset`,
};

const TIMES_FIRST: Statement = {
  name: "the page's times first",
  columns: DEVICE_COLUMNS,
  sqlOf: (table) => `WITH page AS MATERIALIZED
    (SELECT timestamp FROM ${table} WHERE ${OF_DEVICE} ORDER BY timestamp LIMIT $limit OFFSET $offset)
    ${SELECT_DEVICE} ${table} WHERE ${OF_DEVICE}
      AND timestamp BETWEEN (SELECT min(timestamp) FROM page) AND (SELECT max(timestamp) FROM page)
    ORDER BY timestamp`,
};

const APP_ORDERED: Statement = {
  name: "ORDER BY timestamp, device_id",
  columns: APP_COLUMNS,
  sqlOf: (table) => `${SELECT_APP} ${table} WHERE ${OF_APP}
    ORDER BY timestamp, device_id LIMIT $limit OFFSET $offset`,
};

const APP_TIMES_FIRST: Statement = {
  name: "the page's times first",
  columns: APP_COLUMNS,
  sqlOf: (table) => `WITH page AS MATERIALIZED
    (SELECT timestamp FROM ${table} WHERE ${OF_APP} ORDER BY timestamp, device_id LIMIT $limit OFFSET $offset)
    ${SELECT_APP} ${table} WHERE ${OF_APP} AND timestamp <= (SELECT max(timestamp) FROM page)
    ORDER BY timestamp, device_id LIMIT $limit OFFSET $offset`,
};

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

  function page({ name, columns, sqlOf }: Statement): Formulation {
    return {
      name,
      async ask(question) {
        const chunks = await run(sqlOf(tableOf(question)), valuesOf(question));
        return { rows: () => rowsOf(chunks, columns), devices: null };
      },
    };
  }

  function pageWithDevices(statement: Statement): Formulation {
    const { name, ask } = page(statement);
    return {
      name,
      async ask(question) {
        const { rows } = await ask(question);
        const { app, start, end } = valuesOf(question);
        const sql = `SELECT count(DISTINCT device_id)::DOUBLE FROM ${tableOf(question)} WHERE ${OF_APP}`;
        const [counted] = await run(sql, { app: app!, start: start!, end: end! });
        return { rows, devices: counted!.getColumnVector(0).getItem(0) as number };
      },
    };
  }

  return {
    devicePage: [ORDERED, AS_FILED].map(page),
    devicePageDeep: [ORDERED, AS_FILED, TIMES_FIRST].map(page),
    appPage: [APP_ORDERED, APP_TIMES_FIRST].map(pageWithDevices),
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** Paths are literals; all other values are bound. */
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

/** The columns of a kind of answer. */
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
