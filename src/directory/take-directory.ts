import { basename, join } from "node:path";
import { isObject } from "../lib/is-object.ts";
import type { Clock } from "../model/time/clock.ts";
import { FileError, type Files, readIfThere } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import { directoryPaths } from "./paths.ts";
import { sweepRoot } from "./temporary-files.ts";

/** The process that holds a directory, and its address if it is a server. */
export interface Holder {
  /** Null if it has just begun and its lock does not name it yet. */
  readonly owner: LockOwner | null;
  readonly url: string | null;
}

/** Another process owns the data directory. */
export class DirectoryInUseError extends Error {
  override readonly name = "DirectoryInUseError";
  /** How to name the server that has the directory to a command that can go through one. */
  readonly urlFlag: string;
  constructor(dataDir: string, { owner, url }: Holder) {
    const holder = owner === null ? "another process" : `process ${owner.pid} (${owner.command})`;
    const place = url === null ? "" : `, which listens at ${url}`;
    super(`The data directory "${dataDir}" is in use by ${holder}${place}.`);
    this.urlFlag = url === null ? "--url" : `--url ${url}`;
  }
}

/** A folder holds files of something else: the path is wrong, and nothing must be written there. */
export class ForeignDirectoryError extends Error {
  override readonly name = "ForeignDirectoryError";
  constructor(dataDir: string, found: string) {
    super(
      `"${dataDir}" is no data directory: it holds other files, such as "${found}". ` +
        "Name a data directory, or a folder that is empty or not there yet, with --data-dir.",
    );
  }
}

/** What owning a directory needs of the machine. */
export interface DirectoryPlatform {
  readonly files: Files;
  readonly acquireLock: AcquireLock;
  readonly pid: number;
}

/**
 * Takes the directory's lock, and removes what a crash left of files on their way; the result gives the lock free.
 * Throws a `DirectoryInUseError` if another process has it.
 */
export async function takeDirectory(
  dataDir: string,
  command: string,
  { files, acquireLock, pid }: DirectoryPlatform,
  clock: Clock,
): Promise<() => void> {
  await files.makeDirectory(dataDir);
  const owner = { pid, command, sinceMs: clock.nowMs() };
  const attempt = await acquireLock(directoryPaths(dataDir).lock, owner);
  if (!attempt.ok) throw new DirectoryInUseError(dataDir, await holderOf(files, dataDir, attempt.owner));
  await sweepRoot(dataDir, { files, acquireLock }, owner);
  return attempt.release;
}

/** Takes a directory, or begins one. Throws a `ForeignDirectoryError` for a folder of something else. */
export async function beginDirectory(
  dataDir: string,
  command: string,
  platform: DirectoryPlatform,
  clock: Clock,
): Promise<() => void> {
  await refuseForeign(platform.files, dataDir);
  return takeDirectory(dataDir, command, platform, clock);
}

/** The holder of a directory; null if it has none. The lock is taken for a moment: there is no other way to tell. */
export async function findHolder(
  dataDir: string,
  command: string,
  { files, acquireLock, pid }: DirectoryPlatform,
  clock: Clock,
): Promise<Holder | null> {
  const { lock } = directoryPaths(dataDir);
  if (!(await files.exists(lock))) return null;
  try {
    const attempt = await acquireLock(lock, { pid, command, sinceMs: clock.nowMs() });
    if (!attempt.ok) return await holderOf(files, dataDir, attempt.owner);
    attempt.release();
    return null;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return null; // A directory that may only be read, such as a backup.
  }
}

async function holderOf(files: Files, dataDir: string, owner: LockOwner | null): Promise<Holder> {
  return { owner, url: owner === null ? null : await findServingUrl(files, dataDir, owner) };
}

/**
 * Notes the address of this process, which holds the directory. The address is known only after the lock is taken, and
 * the holder can't change what the lock says, so it lies in a file beside the lock.
 */
export async function noteServing(
  files: Pick<Files, "replace">,
  dataDir: string,
  { pid, atMs, url }: { readonly pid: number; readonly atMs: number; readonly url: string },
): Promise<void> {
  const text = JSON.stringify({ pid, atMs, url });
  await files.replace(directoryPaths(dataDir).serving, new TextEncoder().encode(`${text}\n`));
}

/**
 * The address of the holder of the directory's lock; null if it is no server, or does not listen yet. A file that
 * another process has left does not count.
 */
export async function findServingUrl(
  files: Pick<Files, "read">,
  dataDir: string,
  { pid, sinceMs }: LockOwner,
): Promise<string | null> {
  try {
    const bytes = await readIfThere(files, directoryPaths(dataDir).serving);
    const serving: unknown = JSON.parse(new TextDecoder().decode(bytes ?? undefined));
    if (!isObject(serving) || typeof serving.url !== "string") return null;
    const isHolders = serving.pid === pid && typeof serving.atMs === "number" && serving.atMs >= sinceMs;
    return isHolders ? serving.url : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof FileError) return null; // It says nothing then.
    throw error;
  }
}

/** Files of a data directory or a backup. Folders called `archive` or `wal` are not enough: others have them too. */
const MARKS = ["keys.json", "directory-id", "cluster.json", "archive/manifest.json", "backup.json"];

/** Folders of a data directory and a backup that have no path of their own in the program. */
const MORE_NAMES = ["imports", "joining", "next"];

/** What file systems and tools leave in folders that hold nothing else. */
const LEFT_BY_OTHERS = ["lost+found", ".DS_Store", ".gitkeep"];

/** Throws a `ForeignDirectoryError` for a folder that holds something and has no mark of ours. */
export async function refuseForeign(files: Pick<Files, "list" | "exists">, dataDir: string): Promise<void> {
  const names = [...Object.values(directoryPaths(dataDir)).map((path) => basename(path)), ...MORE_NAMES];
  const isOurs = (name: string) => names.some((ours) => name === ours || name.startsWith(`${ours}.`));
  const found = (await files.list(dataDir)).find((name) => !isOurs(name) && !LEFT_BY_OTHERS.includes(name));
  if (found === undefined) return;
  for (const mark of MARKS) if (await files.exists(join(dataDir, mark))) return;
  throw new ForeignDirectoryError(dataDir, found);
}
