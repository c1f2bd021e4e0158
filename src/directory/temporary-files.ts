import { join } from "node:path";
import { type Files, unlessFileError } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import { directoryPaths } from "./paths.ts";

/*
 * A file is written under a temporary name and then renamed. A crash in between leaves the temporary one, which may
 * hold what its owner has deleted since, such as hashes of keys.
 */

const SUFFIX = ".tmp";
/** Of files of ours in the data directory itself: their name, some hexadecimal digits or none, `.tmp`. */
const ROOT_NAME = /^(?<file>.+?)(?:\.[0-9a-f]{8})?\.tmp$/;

/** Removes all temporary files of a directory in which no other process writes. */
export async function removeTemporaryFiles(
  files: Pick<Files, "list" | "remove">,
  directory: string,
): Promise<void> {
  for (const name of await files.list(directory)) {
    if (name.endsWith(SUFFIX)) await files.remove(join(directory, name)).catch(unlessFileError);
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
 * is nobody's. Where another one has it, the next start looks again.
 */
export async function sweepRoot(
  dataDir: string,
  { files, acquireLock }: SweepPlatform,
  owner: LockOwner,
): Promise<void> {
  const { keys, settings, sessionSecret, passPhrases } = directoryPaths(dataDir);
  const shared: readonly string[] = [keys, settings, sessionSecret, passPhrases];
  try {
    const found = await listTemporaryFiles(files, dataDir);
    for (const file of new Set(found.map(({ file }) => file))) {
      const path = join(dataDir, file);
      const lock = shared.includes(path) ? await acquireLock(`${path}.lock`, owner) : NO_LOCK;
      if (!lock.ok) continue;
      try {
        const left = await listTemporaryFiles(files, dataDir);
        for (const each of left) if (each.file === file) await files.remove(join(dataDir, each.name));
      } finally {
        lock.release();
      }
    }
  } catch (error) {
    unlessFileError(error); // A disk that only reads; verify names them.
  }
}

const NO_LOCK = { ok: true, release: () => undefined } as const;

/** Temporary files directly in the data directory, of files that are ours. */
async function listTemporaryFiles(files: Pick<Files, "list">, dataDir: string) {
  const ours: readonly string[] = Object.values(directoryPaths(dataDir));
  const found: { readonly file: string; readonly name: string }[] = [];
  for (const name of await files.list(dataDir)) {
    const file = ROOT_NAME.exec(name)?.groups?.file;
    if (file !== undefined && ours.includes(join(dataDir, file))) found.push({ file, name });
  }
  return found;
}

/** Temporary files of a data directory and its archive: of a crash, or of a process that writes just now. */
export async function findTemporaryFiles(files: Pick<Files, "list">, dataDir: string): Promise<string[]> {
  const { archive } = directoryPaths(dataDir);
  const root = (await listTemporaryFiles(files, dataDir)).map(({ name }) => join(dataDir, name));
  const names = (await files.list(archive)).filter((name) => name.endsWith(SUFFIX));
  return [...root, ...names.map((name) => join(archive, name))];
}
