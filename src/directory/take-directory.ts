import type { Clock } from "../model/time/clock.ts";
import { FileError, type Files } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import { refuseForeign } from "./foreign.ts";
import { directoryPaths } from "./paths.ts";
import { findServingUrl } from "./serving.ts";
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
