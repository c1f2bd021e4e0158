import type {
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBPreparedStatement,
  DuckDBResult,
  DuckDBValue,
} from "@duckdb/node-api";
import { assert } from "../../lib/assert.ts";
import { FileError } from "../../runtime/files.ts";
import { quoteText } from "./quote-text.ts";
import { createRunningStatements } from "./running-statements.ts";

/*
 * The one importer of DuckDB. It runs statements on threads of its own, off the event loop; only copying a
 * result into JavaScript takes our time.
 */
export interface DatabaseOptions {
  readonly threads: number;
  readonly memoryBytes: number;
  /** Where DuckDB may read and write files; nothing else on the disk is within its reach. */
  readonly directories: readonly string[];
  /** Where it puts what does not fit its memory. Must lie in one of the directories. */
  readonly spillDirectory: string;
  /** Whether to keep what was read of files in memory: for those that are read again. */
  readonly cachesFiles: boolean;
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
  /** The same, some thousand rows at a time: for results that are too large to hold, or to copy in one piece. */
  stream(sql: string, values: SqlValues, signal?: AbortSignal): AsyncIterable<Rows>;
  /** Breaks off what is under way, which rejects. */
  close(): void;
}

/** A result in columns, by position. */
export interface Rows {
  readonly count: number;
  /** A DOUBLE column; NaN stands for null. */
  numbers(column: number): Float64Array;
  /** A VARCHAR column, byte for byte. */
  texts(column: number): (string | null)[];
  /** A BOOLEAN column. */
  booleans(column: number): (boolean | null)[];
}

/** Statements with values that a connection keeps ready, which saves 0.3 ms each time: all there are, in practice. */
const PREPARED_MAX = 64;

/** Chunks of a streamed result that are handed over together. */
const STREAM_CHUNKS = 8;

/**
 * Opens a database that can't load extensions, reach the network, or touch a file outside the directories; the
 * last setting keeps any statement from changing that.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { threads, memoryBytes, directories, spillDirectory, cachesFiles } = options;
  const duckdb = await loadDuckDb();
  const instance = await duckdb.DuckDBInstance.create(":memory:", {
    threads: String(threads),
    memory_limit: `${Math.floor(memoryBytes / 1_000_000)}MB`,
    temp_directory: spillDirectory,
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    preserve_insertion_order: "true",
    enable_external_file_cache: String(cachesFiles),
  });
  const setup = await instance.connect();
  await setup.run(`SET allowed_directories = [${directories.map(quoteText).join(", ")}]`);
  await setup.run(`SET parquet_metadata_cache = ${cachesFiles}`);
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
      const end = running.begin(signal);
      try {
        // Statements without values are made for one occasion.
        const result = await (values === undefined ? connection.run(sql) : prepared.run(sql, values));
        return rowsOf(await result.fetchAllChunks(), duckdb);
      } catch (error) {
        signal?.throwIfAborted();
        throw explained(error);
      } finally {
        end();
      }
    },
    async *stream(sql, values, signal) {
      const end = running.begin(signal);
      let statement: DuckDBPreparedStatement | null = null;
      try {
        statement = await connection.prepare(sql);
        statement.bind(bindable(values, duckdb));
        const result = await statement.stream();
        let chunks: DuckDBDataChunk[] = [];
        for (;;) {
          const chunk = await result.fetchChunk();
          const isOver = chunk === null || chunk.rowCount === 0;
          if (!isOver) chunks.push(chunk);
          if (chunks.length > 0 && (isOver || chunks.length === STREAM_CHUNKS)) {
            yield rowsOf(chunks, duckdb);
            chunks = [];
          }
          if (isOver) return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        throw explained(error);
      } finally {
        statement?.destroySync();
        end();
      }
    },
    close: () => running.close(),
  };
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
    async run(sql: string, values: SqlValues): Promise<DuckDBResult> {
      const statement = prepared.get(sql) ?? (await connection.prepare(sql));
      prepared.delete(sql); // Nobody else binds values to it meanwhile.
      try {
        statement.bind(bindable(values, duckdb));
        return await statement.run();
      } finally {
        if (prepared.size === PREPARED_MAX) forget();
        prepared.set(sql, statement);
      }
    },
  };
}

/** DuckDB has no codes for what the system says: that no file descriptor is left says nothing about a file. */
function explained(error: unknown): unknown {
  const isPassing = error instanceof Error && error.message.includes("Too many open files");
  return isPassing ? new FileError("open", "the archive", "EMFILE", error) : error;
}

function bindable(values: SqlValues, duckdb: DuckDb): Record<string, DuckDBValue> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "object" && value !== null ? duckdb.listValue([...value]) : value,
    ]),
  );
}

/** The library's own decoder takes a byte order mark at the start of a text for none of it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function rowsOf(chunks: readonly DuckDBDataChunk[], duckdb: DuckDb): Rows {
  const count = chunks.reduce((rows, chunk) => rows + chunk.rowCount, 0);
  return {
    count,
    numbers(index) {
      const numbers = new Float64Array(count);
      let at = 0;
      for (const chunk of chunks) {
        const vector = chunk.getColumnVector(index);
        for (let row = 0; row < chunk.rowCount; row++) {
          const value = vector.getItem(row);
          assert(value === null || typeof value === "number", "a column read as numbers is DOUBLE");
          numbers[at++] = value ?? Number.NaN;
        }
      }
      return numbers;
    },
    texts(index) {
      const texts: (string | null)[] = new Array(count);
      let at = 0;
      for (const chunk of chunks) {
        const { typeId } = chunk.getColumnVector(index).type;
        assert(typeId === duckdb.DuckDBTypeId.VARCHAR, "a column read as texts is VARCHAR");
        // A text and its bytes lie alike in a vector.
        const raw = duckdb.bindings.data_chunk_get_vector(chunk.chunk, index);
        const vector = duckdb.DuckDBBlobVector.fromRawVector(raw, chunk.rowCount);
        for (let row = 0; row < chunk.rowCount; row++) {
          const bytes = vector.getItemBytes(row);
          texts[at++] = bytes === null ? null : decoder.decode(bytes);
        }
      }
      return texts;
    },
    booleans(index) {
      const booleans: (boolean | null)[] = new Array(count);
      let at = 0;
      for (const chunk of chunks) {
        const vector = chunk.getColumnVector(index);
        for (let row = 0; row < chunk.rowCount; row++) {
          const value = vector.getItem(row);
          assert(value === null || typeof value === "boolean", "a column read as booleans is BOOLEAN");
          booleans[at++] = value;
        }
      }
      return booleans;
    },
  };
}
