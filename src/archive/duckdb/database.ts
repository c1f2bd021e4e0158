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
import { quoteText } from "./quote-text.ts";
import { createRunningStatements } from "./running-statements.ts";
import { BooleanVector, copyNumbers, TextVector } from "./vectors.ts";

/*
 * The one importer of DuckDB. It runs statements on threads of its own, off the event loop; only copying a
 * result into JavaScript takes our time.
 */
export interface DatabaseOptions {
  readonly threads: number;
  readonly memoryBytes: number;
  /** Where DuckDB may read and write files; nothing else on the disk is within its reach. */
  readonly directories: readonly string[];
  /** Single files that are within its reach, too. */
  readonly files?: readonly string[];
  /**
   * Where it puts what does not fit its memory, in a folder of its own. Must lie in one of the directories; null where
   * all must fit.
   */
  readonly spillDirectory: string | null;
  /** Whether to keep what was read of files in memory: for those that are read again. */
  readonly cachesFiles: boolean;
  /** What it may read of a streamed result before the caller takes it. Defaults to DuckDB's megabyte. */
  readonly streamBytes?: number;
}

type DuckDb = Awaited<ReturnType<typeof loadDuckDb>>;

/** Loads the library itself, and what it is built on; commands that need no archive never do. */
export async function loadDuckDb() {
  const [duckdb, { default: bindings }] = await Promise.all([
    import("@duckdb/node-api"),
    import("@duckdb/node-bindings"),
  ]);
  return { ...duckdb, bindings };
}

/** DuckDB in memory: it holds no data of its own, only reads and writes files. */
export interface Database {
  connect(): Promise<Connection>;
  close(): void;
}

export type SqlValue = string | number | bigint | boolean | null | readonly string[];
/** Values of `$name` parameters: they are always bound, never part of a statement's text. */
export type SqlValues = Readonly<Record<string, SqlValue>>;

/** Runs one statement at a time. */
export interface Connection {
  /** Rejects with an `AbortError` where the signal ended the statement, else with DuckDB's own error. */
  run(sql: string, values?: SqlValues, signal?: AbortSignal): Promise<Rows>;
  /** Runs a statement whose result is too large to hold or to copy at once: hands over some thousand rows at a time. */
  stream(sql: string, values: SqlValues, signal?: AbortSignal): AsyncIterable<Rows>;
  /** Breaks off what is under way, which rejects with an `AbortError`. Once is enough. */
  close(): void;
}

/** A result in columns, by position. */
export interface Rows {
  readonly count: number;
  /** A DOUBLE column; NaN stands for null. */
  numbers(column: number): Float64Array;
  /** A VARCHAR column, byte for byte. */
  texts(column: number): (string | null)[];
  /** Some VARCHAR columns, by row as a JSON array of their texts: neighbours are mostly alike, and then cost little. */
  tuples(columns: readonly number[]): string[];
  /** A BOOLEAN column. */
  booleans(column: number): (boolean | null)[];
}

/** Statements with values that a connection keeps ready, which saves 0.3 ms each time: all there are, in practice. */
const PREPARED_MAX = 64;

/** What it may put there: DuckDB's own bound is nine tenths of the disk, which the log needs too. */
const SPILL_MAX = "4GB";

/** Chunks of a streamed result that are handed over together. */
const STREAM_CHUNKS = 8;

/** Chunks of a complete result that are taken without waiting in between: a page has one. */
const AT_ONCE_CHUNKS = 8;

/**
 * Opens a database that can't load extensions, reach the network, or touch a file outside the directories; the
 * last setting keeps any statement from changing that.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { threads, memoryBytes, directories, files = [], spillDirectory, cachesFiles, streamBytes } = options;
  const duckdb = await loadDuckDb();
  const instance = await duckdb.DuckDBInstance.create(":memory:", {
    threads: String(threads),
    memory_limit: `${Math.floor(memoryBytes / 1_000_000)}MB`,
    // Of its own: DuckDB's names for what it spills are alike, and two databases would read each other's rows.
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
  // Fewer, longer reads of what is in memory: 0.3 ms of a page's 4.5.
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
  // Closed under a running statement, a connection keeps the thread that runs it for ever: there are as many as cores.
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
        // Statements without values are made for one occasion.
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
          signal?.throwIfAborted(); // Nothing is interrupted between two chunks.
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

/** All of a result, which is complete: to wait for a turn of another thread costs more than to take a few chunks. */
async function chunksOf(result: DuckDBMaterializedResult): Promise<readonly DuckDBDataChunk[]> {
  const { chunkCount } = result;
  if (chunkCount > AT_ONCE_CHUNKS) return result.fetchAllChunks();
  return Array.from({ length: chunkCount }, (_, index) => result.getChunk(index));
}

/** The statements that a connection keeps ready. */
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
      prepared.delete(sql); // Nobody else binds values to it meanwhile.
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

/** DuckDB has no codes for what the system says: that no file descriptor is left says nothing about a file. */
function explained(error: unknown): unknown {
  const isPassing = error instanceof Error && error.message.includes("Too many open files");
  return isPassing ? new FileError("open", "the archive", "EMFILE", error) : error;
}

/**
 * Each by the call for its type. The library's `bind` makes a value first, an object of its own, of which Deno keeps 50
 * bytes for ever (docs/deploy.md).
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

  /** Vectors are read as what they are said to be: another type would be nonsense, or memory outside the vector. */
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
        const { rowCount } = chunk; // Each look at it is a call of the library.
        for (let row = 0; row < rowCount; row++) booleans[at++] = vector.at(row);
      }
      return booleans;
    },
  };
}
