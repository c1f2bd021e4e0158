import type { Files } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import type { Clock } from "../time/clock.ts";
import { directoryPaths } from "./paths.ts";

/** Another process owns the data directory. */
export class DirectoryInUseError extends Error {
  override readonly name = "DirectoryInUseError";
  constructor(dataDir: string, owner: LockOwner | null) {
    const holder = owner === null ? "another process" : `process ${owner.pid} (${owner.command})`;
    super(`The data directory "${dataDir}" is in use by ${holder}.`);
  }
}

/** What owning a directory needs of the machine. */
export interface DirectoryPlatform {
  readonly files: Files;
  readonly acquireLock: AcquireLock;
  readonly pid: number;
}

/**
 * Takes the directory's lock; the result gives it free. Throws a `DirectoryInUseError` where another process has it.
 */
export async function takeDirectory(
  dataDir: string,
  command: string,
  { files, acquireLock, pid }: DirectoryPlatform,
  clock: Clock,
): Promise<() => void> {
  await files.makeDirectory(dataDir);
  const attempt = await acquireLock(directoryPaths(dataDir).lock, { pid, command, sinceMs: clock.nowMs() });
  if (!attempt.ok) throw new DirectoryInUseError(dataDir, attempt.owner);
  return attempt.release;
}
