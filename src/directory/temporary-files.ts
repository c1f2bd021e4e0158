import { join } from "node:path";
import { type Files, unlessFileError } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import { directoryPaths } from "./paths.ts";

/*
 * A file is written under a temporary name and then renamed. A crash in between leaves the temporary one, which may
 * hold what its owner has deleted since, such as hashes of keys.
 */

/** The name of the file, eight hexadecimal digits (none where a copy is joined), `.tmp`. */
const NAME = /^(?<file>.+?)(?:\.[0-9a-f]{8})?\.tmp$/;

/** Whether a folder holds files of ours of that name. */
type IsOurs = (file: string) => boolean;

/** The file that a temporary one was to become; null for any other name. */
export function temporaryOf(name: string): string | null {
  return NAME.exec(name)?.groups?.file ?? null;
}

/** Files of ours on their way in a folder, by name: of a crash, or of a process that writes just now. */
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

/** Removes the temporary files of ours from a directory in which no other process writes. */
export async function removeTemporaryFiles(
  files: Pick<Files, "list" | "remove">,
  directory: string,
  isOurs: IsOurs,
): Promise<void> {
  for (const name of await listTemporaryFiles(files, directory, isOurs)) {
    await files.remove(join(directory, name)).catch(unlessFileError);
  }
}

/** What takes the locks of files that several processes write. */
export interface SweepPlatform {
  readonly files: Pick<Files, "list" | "remove">;
  readonly acquireLock: AcquireLock;
}

/**
 * Removes what a crash left directly in the data directory; for the process that holds it. Keys, settings and secrets
 * are written by other processes too, each under the lock of its file: what is there while this process has that lock
 * has no owner. If another process has it, the next start looks again.
 */
export async function sweepRoot(
  dataDir: string,
  { files, acquireLock }: SweepPlatform,
  owner: LockOwner,
): Promise<void> {
  const { keys, settings, sessionSecret, passPhrases } = directoryPaths(dataDir);
  const shared: readonly string[] = [keys, settings, sessionSecret, passPhrases];
  try {
    const found = await listTemporaryFiles(files, dataDir, isInRoot);
    for (const file of new Set(found.map((name) => temporaryOf(name)!))) {
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
    unlessFileError(error); // A disk that only reads; verify names them.
  }
}

const NO_LOCK = { ok: true, release: () => undefined } as const;

/** Names that lie in a data directory itself. */
const ROOT_NAMES: ReadonlySet<string> = new Set(Object.values(directoryPaths("")));

export const isInRoot: IsOurs = (file) => ROOT_NAMES.has(file);
