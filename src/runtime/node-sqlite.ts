import { existsSync, linkSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { backup, DatabaseSync, type StatementSync } from "node:sqlite";
import { FileError } from "./files.ts";
import { codeOf, fileErrorOf } from "./node-error.ts";
import { createEmptyFile } from "./owner.ts";
import {
  DamagedDatabaseError,
  type OpenSqliteOptions,
  type SqliteDatabase,
  type SqliteRow,
  type SqliteStatement,
  type SqliteValue,
} from "./sqlite.ts";

/*
 * SQLite's own files beside the database, `-wal` and `-shm`, get its owner and its mode from SQLite.
 *
 * The two runtimes give the same messages, but only one of them SQLite's codes.
 */

export function openNodeSqlite(
  path: string | null,
  { isForReading = false, onDamaged = () => undefined }: OpenSqliteOptions = {},
): SqliteDatabase {
  const name = path ?? ":memory:";
  const guard = <Value>(work: () => Value): Value => {
    try {
      return work();
    } catch (error) {
      const failure = failureOf(name, error);
      if (failure instanceof DamagedDatabaseError) onDamaged();
      throw failure;
    }
  };
  const database = guard(() => {
    if (isForReading) return openForReading(name);
    if (path !== null) createOnce(path);
    return new DatabaseSync(name);
  });
  let isOpen = true;
  const run = (sql: string) => guard(() => database.exec(sql));
  const statements = new Map<string, SqliteStatement>();
  return {
    run,
    prepare(sql) {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = new GuardedStatement(
          guard(() => database.prepare(sql)),
          guard,
        );
        statements.set(sql, statement);
      }
      return statement;
    },
    transact(work) {
      run("BEGIN IMMEDIATE");
      try {
        work();
        run("COMMIT");
      } catch (error) {
        rollBack(database);
        throw error;
      }
    },
    async sync() {
      if (path !== null) await syncLog(`${path}-wal`);
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      guard(() => database.close());
      if (path !== null && !isForReading) keepRoom(`${path}-shm`);
    },
  };
}

/** SQLite's index of the file beside the database, which it removes with its last connection. */
const INDEX_BYTES = 32 * 1024;

/**
 * Leaves a file in the place of the index: a disk that is full by the next start would have no room for one. It gets
 * its name at once with its content, since another process that opens the database may make an index meanwhile.
 */
function keepRoom(path: string): void {
  const newPath = `${path}.new`;
  try {
    rmSync(newPath, { force: true });
    createEmptyFile(newPath);
    writeFileSync(newPath, new Uint8Array(INDEX_BYTES));
    linkSync(newPath, path);
    rmSync(newPath);
  } catch (error) {
    // Another process has the database open, there is no room now, or the directory is gone.
    if (!/^E[A-Z0-9]+$/.test(codeOf(error))) throw error;
    rmSync(newPath, { force: true });
  }
}

/**
 * Syncs the file of transactions that are not in the database yet; those that are in it are synced. SQLite would sync
 * it within a transaction, while nothing else can run. It has no locks on this file, which closing it here would end.
 */
async function syncLog(path: string): Promise<void> {
  try {
    const log = await open(path, "r+");
    try {
      await log.sync();
    } finally {
      await log.close();
    }
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw await fileErrorOf("sync", path, error);
  }
}

/**
 * SQLite creates its own files beside the database even to read it. A connection that may write removes them again; but
 * if they were there, it might also move transactions into the database, so it may not write then.
 */
function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: existsSync(`${path}-wal`) });
}

/** More pages than a database has: a copy in several steps begins again whenever another process writes. */
const PAGES_AT_ONCE = 2 ** 31 - 1;

export async function copyNodeSqlite(from: string, to: string): Promise<void> {
  createEmptyFile(to);
  let database: DatabaseSync | null = null;
  try {
    database = openForReading(from);
    await backup(database, to, { rate: PAGES_AT_ONCE });
  } catch (error) {
    throw failureOf(from, error);
  } finally {
    database?.close();
  }
}

class GuardedStatement implements SqliteStatement {
  readonly #statement: StatementSync;
  readonly #guard: <Value>(work: () => Value) => Value;

  constructor(statement: StatementSync, guard: <Value>(work: () => Value) => Value) {
    this.#statement = statement;
    this.#guard = guard;
  }

  run(...values: readonly SqliteValue[]): number {
    return this.#guard(() => Number(this.#statement.run(...values).changes));
  }

  find(...values: readonly SqliteValue[]): SqliteRow | null {
    return this.#guard(() => (this.#statement.get(...values) as SqliteRow | undefined) ?? null);
  }

  all(...values: readonly SqliteValue[]): SqliteRow[] {
    return this.#guard(() => this.#statement.all(...values) as SqliteRow[]);
  }
}

function createOnce(path: string): void {
  try {
    createEmptyFile(path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** SQLite has rolled back already after some failures of the disk, and says then that no transaction is active. */
function rollBack(database: DatabaseSync): void {
  try {
    database.exec("ROLLBACK");
  } catch (error) {
    if (!String(error).includes("no transaction is active")) throw error;
  }
}

/** What SQLite's messages mean in the system's codes. */
const CODES: readonly (readonly [RegExp, string])[] = [
  [/database or disk is full/, "ENOSPC"],
  [/disk I\/O error/, "EIO"],
  [/readonly database/, "EROFS"],
  [/database (table )?is locked/, "EBUSY"],
  [/unable to open/, "EACCES"],
];

function failureOf(path: string, error: unknown): Error {
  const text = error instanceof Error ? error.message : String(error);
  if (/malformed|not a database|corrupt/.test(text)) return new DamagedDatabaseError(path, text, error);
  const code = CODES.find(([pattern]) => pattern.test(text))?.[1] ?? codeOf(error);
  // What has a code of the runtime is a mistake of the caller, such as in a statement.
  const isMistake = code.startsWith("ERR_") && error instanceof Error;
  return isMistake ? error : new FileError("use database", path, code, error);
}
