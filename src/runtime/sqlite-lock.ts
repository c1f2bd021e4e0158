import { rmSync, truncateSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { FileError } from "./files.ts";
import type { LockAttempt, LockOwner } from "./lock.ts";
import { codeOf, fileErrorOf } from "./node-error.ts";
import { createEmptyFile } from "./owner.ts";

/*
 * SQLite's write lock, which is the operating system's lock on a byte of the file: it ends with its process
 * also after `kill -9`, and means the same inside a container, where every process is number 1. Neither Bun
 * nor Deno offers such a lock by itself.
 *
 * The holder commits a row that names it, then begins a second transaction and keeps it open: others can't
 * begin one, but can read the row. Between the two another process may commit its own row, so the row counts
 * only once it has been read back under the lock.
 *
 * The file holds nothing that must last: no journal, no fsync. Where a crash or anyone else has left garbage
 * in it, it is emptied in place. Replacing it could leave two holders, each of a file of its own.
 */
const SETUP = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF";

/**
 * How long others may be between two steps of taking the lock. Within that a refusal may be theirs to lose,
 * and the row may still name the holder before; the steps take less than a millisecond.
 */
const SETTLE_MS = 100;
/** A holder that can't be named is at such a step still, where the machine has much else to do. */
const NAMELESS_MS = 5000;
const RETRY_MS = 10;

/** Open connections, kept from the garbage collector, which would close them and so end the lock. */
const held = new Set<DatabaseSync>();

export async function acquireSqliteLock(path: string, owner: LockOwner): Promise<LockAttempt> {
  const startedMs = performance.now();
  for (;;) {
    const database = await openDatabase(path);
    const outcome = tryHold(path, database, owner);
    if (outcome === "held") {
      held.add(database);
      return { ok: true, release: () => release(database) };
    }
    const holder = outcome === "busy" ? readOwner(database) : null;
    database.close();
    if (outcome === "damaged") await emptyDamaged(path, owner);
    const waitMax = holder === null ? NAMELESS_MS : SETTLE_MS;
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
 * Creates the file where it is missing. Only then may it be opened and closed here: closing any descriptor of a
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
 * Empties a damaged file, unless another process does so now or has done so since it was seen: that one may hold
 * the lock by now, and the row that names it would be gone. A second lock keeps the others away meanwhile.
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
    rmSync(repairPath, { force: true }); // Whoever has opened it already finds nothing left to repair.
  } catch (error) {
    if (isLocked(error)) return;
    throw error instanceof FileError ? error : await fileErrorOf("empty damaged lock", path, error);
  } finally {
    repair.close();
  }
}

/** By the message, which is the same on both runtimes; Deno gives no `errcode`. */
function isLocked(error: unknown): boolean {
  return String(error).includes("database is locked");
}

function release(database: DatabaseSync): void {
  if (held.delete(database)) database.close(); // Closing ends the open transaction.
}

/** The holder by its row; null where it is gone, half written or not ours to read at the moment. */
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
