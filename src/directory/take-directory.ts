import { basename, join } from "node:path";
import { isObject } from "../lib/is-object.ts";
import type { Clock } from "../model/time/clock.ts";
import { FileError, type Files, readIfThere } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import { directoryPaths } from "./paths.ts";
import { sweepRoot } from "./temporary-files.ts";

/** The process that uses a directory, with its address if it is a server. */
export interface DirectoryOwner {
  /** Null if the process has just started and its lock does not name it yet. */
  readonly owner: LockOwner | null;
  readonly url: string | null;
}

/** Another process owns the data directory. */
export class DirectoryInUseError extends Error {
  override readonly name = "DirectoryInUseError";
  /** The option that makes a command go through the server that uses the directory. */
  readonly urlFlag: string;
  constructor(dataDir: string, { owner, url }: DirectoryOwner) {
    const ownerText = owner === null ? "another process" : `process ${owner.pid} (${owner.command})`;
    const address = url === null ? "" : `, which listens at ${url}`;
    super(`The data directory "${dataDir}" is in use by ${ownerText}${address}.`);
    this.urlFlag = url === null ? "--url" : `--url ${url}`;
  }
}

/** The folder holds files of another program: the path is wrong, and nothing must be written there. */
export class ForeignDirectoryError extends Error {
  override readonly name = "ForeignDirectoryError";
  constructor(dataDir: string, file: string) {
    super(
      `"${dataDir}" is no data directory: it holds other files, such as "${file}". ` +
        "Name a data directory, or a folder that is empty or not there yet, with --data-dir.",
    );
  }
}

export interface DirectoryPlatform {
  readonly files: Files;
  readonly acquireLock: AcquireLock;
  readonly pid: number;
}

/**
 * Takes the directory's lock and removes temporary files that a crash left. The result releases the lock. Throws a
 * `DirectoryInUseError` if another process has the lock.
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
  if (!attempt.ok)
    throw new DirectoryInUseError(dataDir, await directoryOwnerOf(files, dataDir, attempt.owner));
  await sweepRoot(dataDir, { files, acquireLock }, owner);
  return attempt.release;
}

/** Like `takeDirectory`, but throws a `ForeignDirectoryError` for a folder of another program. */
export async function beginDirectory(
  dataDir: string,
  command: string,
  platform: DirectoryPlatform,
  clock: Clock,
): Promise<() => void> {
  await refuseForeign(platform.files, dataDir);
  return takeDirectory(dataDir, command, platform, clock);
}

/** The process that uses the directory, or null. The lock is taken for a moment: there is no other way to tell. */
export async function findDirectoryOwner(
  dataDir: string,
  command: string,
  { files, acquireLock, pid }: DirectoryPlatform,
  clock: Clock,
): Promise<DirectoryOwner | null> {
  const { lock } = directoryPaths(dataDir);
  if (!(await files.exists(lock))) return null;
  try {
    const attempt = await acquireLock(lock, { pid, command, sinceMs: clock.nowMs() });
    if (!attempt.ok) return await directoryOwnerOf(files, dataDir, attempt.owner);
    attempt.release();
    return null;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return null; // The directory is read-only, such as a backup.
  }
}

async function directoryOwnerOf(
  files: Files,
  dataDir: string,
  owner: LockOwner | null,
): Promise<DirectoryOwner> {
  return { owner, url: owner === null ? null : await findServingUrl(files, dataDir, owner) };
}

/** Writes this server's address, which is known only after the lock is taken, when it can't be changed. */
export async function noteServing(
  files: Pick<Files, "replace">,
  dataDir: string,
  { pid, atMs, url }: { readonly pid: number; readonly atMs: number; readonly url: string },
): Promise<void> {
  const text = JSON.stringify({ pid, atMs, url });
  await files.replace(directoryPaths(dataDir).serving, new TextEncoder().encode(`${text}\n`));
}

/** The address of the lock's owner; null if it is not a listening server. Ignores the file of an earlier process. */
export async function findServingUrl(
  files: Pick<Files, "read">,
  dataDir: string,
  { pid, sinceMs }: LockOwner,
): Promise<string | null> {
  try {
    const bytes = await readIfThere(files, directoryPaths(dataDir).serving);
    const serving: unknown = JSON.parse(new TextDecoder().decode(bytes ?? undefined));
    if (!isObject(serving) || typeof serving.url !== "string") return null;
    const isOwners = serving.pid === pid && typeof serving.atMs === "number" && serving.atMs >= sinceMs;
    return isOwners ? serving.url : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof FileError) return null; // No address is known then.
    throw error;
  }
}

/** Any of these marks a data directory or a backup. Other programs have folders called `archive` or `wal`, too. */
const MARKS = ["keys.json", "directory-id", "cluster.json", "archive/manifest.json", "backup.json"];

/** Folders of a data directory or a backup that `directoryPaths` does not list. */
const MORE_NAMES = ["imports", "joining", "next"];

/** Entries that file systems and tools create in an otherwise empty folder. */
const LEFT_BY_OTHERS = ["lost+found", ".DS_Store", ".gitkeep"];

/** Throws a `ForeignDirectoryError` if the folder has unknown entries and none of our marker files. */
export async function refuseForeign(files: Pick<Files, "list" | "exists">, dataDir: string): Promise<void> {
  const names = [...Object.values(directoryPaths(dataDir)).map((path) => basename(path)), ...MORE_NAMES];
  const isOurs = (name: string) => names.some((ours) => name === ours || name.startsWith(`${ours}.`));
  const file = (await files.list(dataDir)).find((name) => !isOurs(name) && !LEFT_BY_OTHERS.includes(name));
  if (file === undefined) return;
  for (const mark of MARKS) if (await files.exists(join(dataDir, mark))) return;
  throw new ForeignDirectoryError(dataDir, file);
}
