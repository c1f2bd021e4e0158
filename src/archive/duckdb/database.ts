import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type {
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBMaterializedResult,
  DuckDBPreparedStatement,
  DuckDBResult,
} from "@duckdb/node-api";
import { assert } from "../../lib/assert.ts";
import { FileError } from "../../runtime/files.ts";
import { nativeLibraries } from "../../runtime/helper/executable.ts";
import { quoteText } from "./quote-text.ts";
import { createRunningStatements } from "./running-statements.ts";
import { BooleanVector, copyNumbers, TextVector } from "./vectors.ts";

// All calls of DuckDB are in this folder. It runs statements on its own threads, off the event loop; only copying
// results to JavaScript takes time of the event loop.
export interface DatabaseOptions {
  readonly threads: number;
  readonly memoryBytes: number;
  /** The only directories whose files DuckDB may read and write. */
  readonly directories: readonly string[];
  /** Single files that DuckDB may access too. */
  readonly files?: readonly string[];
  /**
   * In a folder of its own here, DuckDB stores what exceeds its memory. Must lie in one of the directories; null if
   * everything must fit into memory.
   */
  readonly spillDirectory: string | null;
  /** Whether to cache what was read of files: useful if they are read again. */
  readonly cachesFiles: boolean;
  /** How much of a streamed result DuckDB may compute ahead of the caller. Defaults to DuckDB's 1 MB. */
  readonly streamBytes?: number;
}

type DuckDb = Awaited<ReturnType<typeof load>>;

let loading: Promise<DuckDb> | null = null;

/** Loads the DuckDB library, once. It takes some 25 MB of memory, and commands that need no archive never do. */
export function loadDuckDb(): Promise<DuckDb> {
  loading ??= load().catch((error: unknown) => {
    loading = null; // An operator may make room for it.
    throw error;
  });
  return loading;
}

async function load() {
  await nativeLibraries().unpack();
  const [duckdb, { default: bindings }] = await Promise.all([
    import("@duckdb/node-api"),
    import("@duckdb/node-bindings"),
  ]);
  return { ...duckdb, bindings };
}

/** An in-memory DuckDB without data of its own: it reads and writes files. */
export interface Database {
  connect(): Promise<Connection>;
  close(): void;
}

export type SqlValue = string | number | bigint | boolean | null | readonly string[];
/** Values of `$name` parameters. They are always bound, never part of a statement's text. */
export type SqlValues = Readonly<Record<string, SqlValue>>;

/** Runs one statement at a time. */
export interface Connection {
  /** Rejects with an `AbortError` if `signal` ended the statement, else with DuckDB's error. */
  run(sql: string, values?: SqlValues, signal?: AbortSignal): Promise<Rows>;
  /** Runs a statement whose result is too large to hold or to copy at once. Yields some thousand rows at a time. */
  stream(sql: string, values: SqlValues, signal?: AbortSignal): AsyncIterable<Rows>;
  /** Stops running statements, which reject with an `AbortError`. A second call does nothing. */
  close(): void;
}

/** A result in columns, by position. */
export interface Rows {
  readonly count: number;
  /** A DOUBLE column; NaN for null. */
  numbers(column: number): Float64Array;
  /** A VARCHAR column, byte for byte. */
  texts(column: number): (string | null)[];
  /**
   * Several VARCHAR columns, each row as a JSON array of texts. Rows that repeat the row before, as most do, cost
   * little.
   */
  tuples(columns: readonly number[]): string[];
  booleans(column: number): (boolean | null)[];
}

/** Prepared statements that a connection keeps, in practice all. Each saves 0.3 ms per use. */
const PREPARED_MAX = 64;

/** DuckDB's own limit is nine tenths of the disk, which the log needs too. */
const SPILL_MAX = "4GB";

/** Chunks of a streamed result per yield. */
const STREAM_CHUNKS = 8;

/** Chunks of a complete result that are copied without waiting in between; a page has one. */
const AT_ONCE_CHUNKS = 8;

/**
 * Opens a database that can't load extensions, use the network, or touch files outside the given directories. The last
 * setting locks that configuration.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { threads, memoryBytes, directories, files = [], spillDirectory, cachesFiles, streamBytes } = options;
  const duckdb = await loadDuckDb();
  const instance = await duckdb.DuckDBInstance.create(":memory:", {
    threads: String(threads),
    memory_limit: `${Math.floor(memoryBytes / 1_000_000)}MB`,
    // A folder of its own, because DuckDB's spill files have fixed names: two databases would read each other's rows.
    temp_directory: spillDirectory === null ? "" : join(spillDirectory, `spill-${randomUUID()}`),
    max_temp_directory_size: SPILL_MAX,
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    preserve_insertion_order: "true",
    enable_external_file_cache: String(cachesFiles),
  });
  const setup = await instance.connect();
  await setup.run(`SET allowed_directories = [${directories.map(quoteText).join(", ")}]`);
  await setup.run(`SET allowed_paths = [${files.map(quoteText).join(", ")}]`);
  await setup.run(`SET parquet_metadata_cache = ${cachesFiles}`);
  // Fewer, longer reads of cached bytes save 0.3 of a page's 4.5 ms.
  await setup.run(`SET prefetch_all_parquet_files = ${cachesFiles}`);
  if (streamBytes !== undefined) await setup.run(`SET streaming_buffer_size = '${streamBytes}B'`);
  await setup.run("SET enable_external_access = false");
  await setup.run("SET lock_configuration = true");
  setup.closeSync();
  return {
    connect: async () => connectionOf(await instance.connect(), duckdb),
    close: () => instance.closeSync(),
  };
}

function connectionOf(connection: DuckDBConnection, duckdb: DuckDb): Connection {
  const prepared = createPreparedStatements(connection, duckdb);
  // A connection closed during a statement blocks one of DuckDB's threads for ever, and there are as many as cores.
  const running = createRunningStatements(
    () => connection.interrupt(),
    () => {
      prepared.forget();
      connection.closeSync();
    },
  );
  return {
    async run(sql, values, signal) {
      const end = running.begin(sql, signal);
      try {
        // A statement without values is used only once, so it is not prepared.
        const result = await (values === undefined ? connection.run(sql) : prepared.run(sql, values));
        return rowsOf(result, await chunksOf(result), duckdb);
      } catch (error) {
        signal?.throwIfAborted();
        running.throwIfClosed();
        throw explained(error);
      } finally {
        end();
      }
    },
    async *stream(sql, values, signal) {
      const end = running.begin(sql, signal);
      let statement: DuckDBPreparedStatement | null = null;
      try {
        statement = await connection.prepare(sql);
        bindAll(statement, values, duckdb);
        const result = await statement.stream();
        let chunks: DuckDBDataChunk[] = [];
        for (;;) {
          signal?.throwIfAborted(); // Between two chunks there is nothing to interrupt.
          const chunk = await result.fetchChunk();
          const isOver = chunk === null || chunk.rowCount === 0;
          if (!isOver) chunks.push(chunk);
          if (chunks.length > 0 && (isOver || chunks.length === STREAM_CHUNKS)) {
            yield rowsOf(result, chunks, duckdb);
            chunks = [];
          }
          if (isOver) return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        running.throwIfClosed();
        throw explained(error);
      } finally {
        statement?.destroySync();
        end();
      }
    },
    close: () => running.close(),
  };
}

/** All chunks of a complete result. Copying a few costs less than waiting for another thread. */
async function chunksOf(result: DuckDBMaterializedResult): Promise<readonly DuckDBDataChunk[]> {
  const { chunkCount } = result;
  if (chunkCount > AT_ONCE_CHUNKS) return result.fetchAllChunks();
  return Array.from({ length: chunkCount }, (_, index) => result.getChunk(index));
}

/** The prepared statements that a connection keeps. */
function createPreparedStatements(connection: DuckDBConnection, duckdb: DuckDb) {
  const prepared = new Map<string, DuckDBPreparedStatement>();

  function forget(): void {
    for (const statement of prepared.values()) statement.destroySync();
    prepared.clear();
  }

  return {
    forget,
    async run(sql: string, values: SqlValues): Promise<DuckDBMaterializedResult> {
      const statement = prepared.get(sql) ?? (await connection.prepare(sql));
      prepared.delete(sql); // While it runs, no other call may bind values to it.
      try {
        bindAll(statement, values, duckdb);
        return await statement.run();
      } finally {
        prepared.set(sql, statement);
        const [oldest] = prepared;
        if (prepared.size > PREPARED_MAX) {
          oldest![1].destroySync();
          prepared.delete(oldest![0]);
        }
      }
    },
  };
}

/** DuckDB has no error codes. Running out of file descriptors says nothing about a file, so it gets its own error. */
function explained(error: unknown): unknown {
  const isPassing = error instanceof Error && error.message.includes("Too many open files");
  return isPassing ? new FileError("open", "the archive", "EMFILE", error) : error;
}

/**
 * Binds each value by the call for its type. The library's `bind` creates an object per value, of which Deno leaks 50
 * bytes (docs/operating.md).
 */
function bindAll(statement: DuckDBPreparedStatement, values: SqlValues, duckdb: DuckDb): void {
  for (const [name, value] of Object.entries(values)) {
    const index = statement.parameterIndex(name);
    if (value === null) statement.bindNull(index);
    else if (typeof value === "string") statement.bindVarchar(index, value);
    else if (typeof value === "bigint") statement.bindBigInt(index, value);
    else if (typeof value === "number") statement.bindDouble(index, value);
    else if (typeof value === "boolean") statement.bindBoolean(index, value);
    else statement.bindList(index, duckdb.listValue([...value]));
  }
}

function rowsOf(
  result: DuckDBResult,
  chunks: readonly DuckDBDataChunk[],
  { bindings, DuckDBTypeId }: DuckDb,
): Rows {
  const count = chunks.reduce((rows, chunk) => rows + chunk.rowCount, 0);

  /** Vectors are read without conversion: another type would give nonsense, or memory outside the vector. */
  function expectType(column: number, type: keyof typeof DuckDBTypeId): void {
    const isExpected = result.columnTypeId(column) === DuckDBTypeId[type];
    assert(isExpected, `a column read as ${type} is ${type}`);
  }

  return {
    count,
    numbers(column) {
      expectType(column, "DOUBLE");
      const numbers = new Float64Array(count);
      let at = 0;
      for (const chunk of chunks) {
        copyNumbers(chunk, column, bindings, numbers, at);
        at += chunk.rowCount;
      }
      return numbers;
    },
    texts(column) {
      expectType(column, "VARCHAR");
      const texts: (string | null)[] = new Array(count);
      let at = 0;
      for (const chunk of chunks) {
        const vector = new TextVector(chunk, column, bindings);
        const changes = new Uint8Array(chunk.rowCount);
        vector.markChanges(changes);
        for (let row = 0; row < changes.length; row++, at++)
          texts[at] = changes[row] === 1 ? vector.at(row) : (texts[at - 1] ?? null);
      }
      return texts;
    },
    tuples(columns) {
      for (const column of columns) expectType(column, "VARCHAR");
      const tuples: string[] = new Array(count);
      let at = 0;
      for (const chunk of chunks) {
        const vectors = columns.map((column) => new TextVector(chunk, column, bindings));
        const changes = new Uint8Array(chunk.rowCount);
        for (const vector of vectors) vector.markChanges(changes);
        for (let row = 0; row < changes.length; row++, at++)
          tuples[at] =
            changes[row] === 1 ? JSON.stringify(vectors.map((vector) => vector.at(row))) : tuples[at - 1]!;
      }
      return tuples;
    },
    booleans(column) {
      expectType(column, "BOOLEAN");
      const booleans: (boolean | null)[] = new Array(count);
      let at = 0;
      for (const chunk of chunks) {
        const vector = new BooleanVector(chunk, column, bindings);
        const { rowCount } = chunk; // Each access is a call of the library.
        for (let row = 0; row < rowCount; row++) booleans[at++] = vector.at(row);
      }
      return booleans;
    },
  };
}
