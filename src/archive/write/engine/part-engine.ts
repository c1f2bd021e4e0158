import { JsonWriter } from "../../../lib/text/json-writer.ts";
import type { AppId } from "../../../model/ids.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import type { Files } from "../../../runtime/files.ts";
import type { Connection, Database, SqlValues } from "../../duckdb/database.ts";
import { createCellFinder } from "../h3-cells.ts";
import { encodeRows } from "../staged-rows.ts";

/** Makes parts: writes rows into files, and runs statements that read and write such files. */
export interface PartEngine {
  /** Rejects with the disk's error. */
  openRows(path: string): Promise<RowsFile>;
  connect(): Promise<PartConnection>;
  /** Whether it accepts nothing more. */
  readonly isClosed: boolean;
  /**
   * Interrupts all work, which rejects, and accepts nothing more. Resolves with true when all work has ended, and with
   * false if that takes too long: then access to its files may hang as well.
   */
  close(): Promise<boolean>;
}

/** A file of rows in the format that DuckDB reads. */
export interface RowsFile {
  /** Appends a batch. Wait for it before the next call. */
  append(appId: AppId, batch: ReportBatch): Promise<void>;
  close(): Promise<void>;
}

/** Runs one statement at a time, and rejects with DuckDB's error. */
export interface PartConnection {
  run(sql: string, values?: SqlValues): Promise<void>;
  /** The first column of a result, a DOUBLE. */
  numbers(sql: string, values?: SqlValues): Promise<Float64Array>;
  /** The first column of a result, a VARCHAR, mapped to the second, a DOUBLE. */
  counts(sql: string, values?: SqlValues): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/** Enough for a batch of a few thousand full reports; grows for larger ones. */
const ROWS_BYTES_INITIAL = 1 << 20;

/** An engine in this thread, over a database of its own. */
export function createPartEngine(files: Files, database: Database): PartEngine {
  const closing = new AbortController();
  return {
    async openRows(path) {
      closing.signal.throwIfAborted();
      const file = await files.openAppend(path);
      const cells = createCellFinder();
      const out = new JsonWriter(ROWS_BYTES_INITIAL);
      return {
        async append(appId, batch) {
          closing.signal.throwIfAborted();
          out.clear();
          encodeRows(appId, batch, cells, out);
          await file.append([out.written()]);
        },
        close: () => file.close(),
      };
    },
    connect: async () => connectionOf(await database.connect(), closing.signal),
    get isClosed() {
      return closing.signal.aborted;
    },
    async close() {
      if (closing.signal.aborted) return true;
      closing.abort();
      database.close();
      return true;
    },
  };
}

function connectionOf(connection: Connection, signal: AbortSignal): PartConnection {
  const run = (sql: string, values?: SqlValues) => connection.run(sql, values, signal);
  return {
    async run(sql, values) {
      await run(sql, values);
    },
    numbers: async (sql, values) => (await run(sql, values)).numbers(0),
    async counts(sql, values) {
      const rows = await run(sql, values);
      const counts = rows.numbers(1);
      return new Map(rows.texts(0).map((text, row) => [text!, counts[row]!]));
    },
    close: () => connection.close(),
  };
}
