import { rmSync, truncateSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { FileError } from "./files.ts";
import type { LockAttempt, LockOwner } from "./lock.ts";
import { codeOf, fileErrorOf } from "./node-error.ts";
import { createEmptyFile } from "./owner.ts";

/*
 * SQLite's write lock is the operating system's lock on a byte of the file. It ends with its process, also after `kill
 * -9`, and works across containers, where every process has number 1. Neither Bun nor Deno offers such a lock directly.
 *
 * The holder commits a row that names it, then begins a second transaction and keeps it open: other processes can't
 * begin one, but can read the row. Another process may commit its own row between the two transactions, so the row
 * counts only once it has been read back under the lock.
 *
 * The file needs no durability: no journal, no fsync. A damaged file is emptied in place. Replacing it could create two
 * holders, each of its own file.
 */
const SETUP = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF";

/**
 * How long another process may be between two steps of taking the lock. Until then its refusal is not final, and the
 * row may still name the previous holder. The steps take less than a millisecond.
 */
const STEPS_MS = 100;
/** A holder without a name may need this long for these steps on a busy machine. */
const NAMELESS_MS = 5000;
const RETRY_MS = 10;

/** Connections that hold a lock. The garbage collector would close an unreferenced connection, which ends its lock. */
const lockedDatabases = new Set<DatabaseSync>();

export async function acquireSqliteLock(path: string, owner: LockOwner): Promise<LockAttempt> {
  const startedMs = performance.now();
  for (;;) {
    const database = await openDatabase(path);
    const outcome = tryHold(path, database, owner);
    if (outcome === "held") {
      lockedDatabases.add(database);
      return { ok: true, release: () => release(database) };
    }
    const holder = outcome === "busy" ? readOwner(database) : null;
    database.close();
    if (outcome === "damaged") await emptyDamaged(path, owner);
    const waitMax = holder === null ? NAMELESS_MS : STEPS_MS;
    if (performance.now() - startedMs >= waitMax) return { ok: false, owner: holder };
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function openDatabase(path: string): Promise<DatabaseSync> {
  try {
    createOnce(path);
    return new DatabaseSync(path);
  } catch (cause) {
    throw await fileErrorOf("open lock", path, cause);
  }
}

/**
 * Creates the file if it is missing. An existing file must not be opened and closed here: closing any descriptor of a
 * file ends every POSIX lock that this process has on it.
 */
function createOnce(path: string): void {
  try {
    createEmptyFile(path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function tryHold(path: string, database: DatabaseSync, owner: LockOwner): "held" | "busy" | "damaged" {
  const row = JSON.stringify(owner);
  try {
    database.exec(`${SETUP}; BEGIN IMMEDIATE`);
    database.exec("CREATE TABLE IF NOT EXISTS owner (json TEXT); DELETE FROM owner");
    database.prepare("INSERT INTO owner VALUES (?)").run(row);
    database.exec("COMMIT; BEGIN IMMEDIATE");
    return readRow(database) === row ? "held" : "busy";
  } catch (error) {
    if (isLocked(error)) return "busy";
    if (/not a database|malformed|no such column|has \d+ columns?/.test(String(error))) return "damaged";
    database.close();
    throw new FileError("take lock", path, String(error), error);
  }
}

/**
 * Empties a damaged file, unless another process is doing so or has done so since the damage was seen: that process may
 * hold the lock by now, and its row would be lost. A second lock excludes the others.
 */
async function emptyDamaged(path: string, owner: LockOwner): Promise<void> {
  const repairPath = `${path}.repair`;
  const repair = await openDatabase(repairPath);
  try {
    repair.exec(`${SETUP}; BEGIN EXCLUSIVE`);
    const database = await openDatabase(path);
    const outcome = tryHold(path, database, owner);
    database.close();
    if (outcome === "damaged") truncateSync(path, 0);
    rmSync(repairPath, { force: true }); // A process that has it open already finds nothing left to repair.
  } catch (error) {
    if (isLocked(error)) return;
    throw error instanceof FileError ? error : await fileErrorOf("empty damaged lock", path, error);
  } finally {
    repair.close();
  }
}

/** Checks the message, which is the same on both runtimes; Deno gives no `errcode`. */
function isLocked(error: unknown): boolean {
  return String(error).includes("database is locked");
}

function release(database: DatabaseSync): void {
  if (lockedDatabases.delete(database)) database.close(); // Closing ends the transaction.
}

/** Null if the row is missing, incomplete or not readable at the moment. */
function readOwner(database: DatabaseSync): LockOwner | null {
  try {
    return parseOwner(readRow(database));
  } catch {
    return null;
  }
}

function readRow(database: DatabaseSync): unknown {
  return database.prepare("SELECT json FROM owner").get()?.json;
}

function parseOwner(json: unknown): LockOwner | null {
  const owner: Partial<Record<keyof LockOwner, unknown>> = JSON.parse(String(json));
  const { pid, command, sinceMs } = owner;
  if (typeof pid !== "number" || typeof command !== "string" || typeof sinceMs !== "number") return null;
  return { pid, command, sinceMs };
}
