import { FileError } from "./files.ts";

/**
 * A SQLite database that this process writes alone. Calls return when SQLite is done, so each must be short: some
 * hundred rows. A failing disk throws a `FileError`, and a file that is no sound database a `DamagedDatabaseError`.
 */
export interface SqliteDatabase {
  /** Runs statements without parameters and results. */
  run(sql: string): void;
  /** The statement is prepared once and kept, so there must be few texts: values are parameters. */
  prepare(sql: string): SqliteStatement;
  /** Runs `work` in one transaction: all that it wrote lasts, or nothing if it throws. */
  transact(work: () => void): void;
  /** Resolves once the transactions so far would outlast a power failure. */
  sync(): Promise<void>;
  /** May be called again. */
  close(): void;
}

export interface SqliteStatement {
  /** Returns how many rows changed. */
  run(...values: readonly SqliteValue[]): number;
  /** The first row, or null. */
  find(...values: readonly SqliteValue[]): SqliteRow | null;
  all(...values: readonly SqliteValue[]): SqliteRow[];
}

/** Numbers are doubles; integers beyond 2^53 can't be read. */
export type SqliteValue = string | number | Uint8Array | null;
export type SqliteRow = Readonly<Record<string, SqliteValue>>;

export interface OpenSqliteOptions {
  /** For a command that writes nothing: a server may have the database open. */
  readonly isForReading?: boolean;
  /** Called whenever a call meets damage, before that throws. */
  readonly onDamaged?: () => void;
}

/** Opens the file, or creates it (0600); null opens a database in memory. */
export type OpenSqlite = (path: string | null, options?: OpenSqliteOptions) => SqliteDatabase;

/** Copies a database as it is after one of its transactions, also while another process writes it. */
export type CopySqlite = (from: string, to: string) => Promise<void>;

/** The file is not a database, or what it holds contradicts itself. */
export class DamagedDatabaseError extends Error {
  override readonly name = "DamagedDatabaseError";
  readonly reason: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super(`The database "${path}" is damaged: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** Whether a database can't be used now, because of the disk or of damage. Other errors are mistakes of the program. */
export function isDatabaseFailure(error: unknown): error is FileError | DamagedDatabaseError {
  return error instanceof FileError || error instanceof DamagedDatabaseError;
}
