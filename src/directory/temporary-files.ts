import { join } from "node:path";
import { type Files, ignoreFileError } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import { directoryPaths } from "./paths.ts";

/*
 * A file is written under a temporary name and then renamed. A crash in between leaves the temporary file, which may
 * hold data that was deleted since, such as hashes of keys.
 */

/** The file's name, eight hexadecimal digits (absent in a copy made by `join`), `.tmp`. */
const NAME = /^(?<file>.+?)(?:\.[0-9a-f]{8})?\.tmp$/;

/** Whether this program writes a file of this name into the folder. */
type IsOurs = (file: string) => boolean;

/** The name that a temporary file was to get; null for any other file. */
export function temporaryOf(name: string): string | null {
  return NAME.exec(name)?.groups?.file ?? null;
}

/** Names of this program's temporary files in a folder: left by a crash, or being written now. */
export async function listTemporaryFiles(
  files: Pick<Files, "list">,
  directory: string,
  isOurs: IsOurs,
): Promise<string[]> {
  return (await files.list(directory)).filter((name) => {
    const file = temporaryOf(name);
    return file !== null && isOurs(file);
  });
}

/** Removes this program's temporary files. No other process may be writing in the directory. */
export async function removeTemporaryFiles(
  files: Pick<Files, "list" | "remove">,
  directory: string,
  isOurs: IsOurs,
): Promise<void> {
  for (const name of await listTemporaryFiles(files, directory, isOurs)) {
    await files.remove(join(directory, name)).catch(ignoreFileError);
  }
}

export interface SweepPlatform {
  readonly files: Pick<Files, "list" | "remove">;
  readonly acquireLock: AcquireLock;
}

/**
 * Removes temporary files directly in the data directory; for the process that holds its lock. Other processes may
 * write keys, settings and secrets too, each under the lock of its file, so a temporary file is abandoned if this
 * process gets that lock. If another process has it, the next start tries again.
 */
export async function sweepRoot(
  dataDir: string,
  { files, acquireLock }: SweepPlatform,
  owner: LockOwner,
): Promise<void> {
  const { keys, settings, sessionSecret, passPhrases, webhookSecrets } = directoryPaths(dataDir);
  const shared: readonly string[] = [keys, settings, sessionSecret, passPhrases, webhookSecrets];
  try {
    const names = await listTemporaryFiles(files, dataDir, isInRoot);
    for (const file of new Set(names.map((name) => temporaryOf(name)!))) {
      const path = join(dataDir, file);
      const lock = shared.includes(path) ? await acquireLock(`${path}.lock`, owner) : NO_LOCK;
      if (!lock.ok) continue;
      try {
        await removeTemporaryFiles(files, dataDir, (each) => each === file);
      } finally {
        lock.release();
      }
    }
  } catch (error) {
    ignoreFileError(error); // The disk is read-only; `verify` lists such files.
  }
}

const NO_LOCK = { ok: true, release: () => undefined } as const;

const ROOT_NAMES: ReadonlySet<string> = new Set(Object.values(directoryPaths("")));

export const isInRoot: IsOurs = (file) => ROOT_NAMES.has(file);
