import { dirname, join, resolve } from "node:path";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { FileError, type Files, ignoreFileError, moveDurably } from "../../runtime/files.ts";
import { findFile, LOCK, readBackup, writeDurably } from "./directory.ts";
import type { Backup, BackupFile } from "./file.ts";

/** What was restored. */
export interface RestoreReport {
  /** When the backup was taken, Unix ms. */
  readonly takenMs: number;
  readonly lastSequence: number;
  readonly files: number;
  readonly bytes: number;
  /** What was wrong with the data directory when it was backed up, a line each. */
  readonly problems: readonly string[];
  readonly durationMs: number;
}

export interface RestoreOptions {
  readonly files: Files;
  /** The backup's. */
  readonly directory: string;
  /** Not there yet, or empty. */
  readonly dataDir: string;
  /** Takes the lock of a directory, which it makes where it is missing; the result gives it free. */
  take(directory: string): Promise<() => void>;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** Why nothing was restored: a sentence, and the files of the backup that are to blame, a line each. */
export interface RestoreFault {
  readonly message: string;
  readonly damaged: readonly string[];
}

/**
 * Makes a data directory from a backup: every file is read and checked before the first is written, and the new
 * directory gets its name in one step, when all of it is on the disk.
 */
export async function restore(options: RestoreOptions): Promise<Result<RestoreReport, RestoreFault>> {
  const { files, directory, dataDir, take } = options;
  const found = await findBackup(options);
  if (!found.ok) return found;
  if ((await files.list(dataDir)).length > 0)
    return refuse(`"${dataDir}" is not empty: a backup is restored to a new directory.`);
  const release = await take(directory).catch((error: unknown) => {
    ignoreFileError(error); // No process writes to a backup that may only be read.
    return () => {};
  });
  try {
    const backup = await findBackup(options);
    return backup.ok ? await restoreFrom(options, backup.value) : backup;
  } finally {
    release();
  }
}

async function findBackup({ files, directory }: RestoreOptions): Promise<Result<Backup, RestoreFault>> {
  const found = await readBackup(files, directory);
  if (!found.ok) return refuse(found.error);
  return found.value === null ? refuse(`"${directory}" holds no backup.`) : ok(found.value);
}

async function restoreFrom(
  options: RestoreOptions,
  backup: Backup,
): Promise<Result<RestoreReport, RestoreFault>> {
  const { files, directory, dataDir, take } = options;
  const startedMs = performance.now();
  const progress = createProgress(options, backup);
  const damaged: string[] = [];
  for (const file of backup.files) {
    const whole = await findFile(files, directory, file);
    if (!whole.ok) damaged.push(`${file.file}: ${whole.error.message}`);
    progress.add(file);
  }
  if (damaged.length > 0) {
    const told = `${damaged.length} of the ${backup.files.length} files of the backup can't be used.`;
    return fail({ message: `${told} Nothing was restored.`, damaged });
  }

  const target = resolve(dataDir);
  const unfinished = `${target}.restoring`;
  await files.makeDirectory(unfinished, target);
  const release = await take(unfinished);
  try {
    await clear(files, unfinished);
    await copy(options, backup, unfinished, progress);
    await moveDurably(files, unfinished, target); // The lock goes with it.
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (await isInPlace(files, unfinished))
      return refuse(
        `${messageOf(error)}. "${target}" is restored and whole, but a power failure may take it away.`,
      );
    await files.removeAll(unfinished).catch(ignoreFileError);
    return refuse(`${messageOf(error)}. Nothing was restored.`);
  } finally {
    release();
  }
  const { takenMs, lastSequence, problems } = backup;
  return ok({
    takenMs,
    lastSequence,
    files: backup.files.length,
    bytes: progress.fileBytes,
    problems,
    durationMs: performance.now() - startedMs,
  });
}

/** Whether it was only its name that could not be made to last. */
async function isInPlace(files: Files, unfinished: string): Promise<boolean> {
  try {
    return !(await files.exists(unfinished));
  } catch (error) {
    ignoreFileError(error);
    return false;
  }
}

function refuse(message: string): Result<never, RestoreFault> {
  return fail({ message, damaged: [] });
}

/** Files are read twice: once to check them all, and once to copy them. */
function createProgress({ onProgress }: RestoreOptions, backup: Backup) {
  const fileBytes = backup.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let doneBytes = 0;
  return {
    fileBytes,
    add({ bytes }: BackupFile): void {
      doneBytes += bytes;
      onProgress(doneBytes, 2 * fileBytes);
    },
  };
}

/** Removes what an earlier restore left that was cut short. */
async function clear(files: Files, directory: string): Promise<void> {
  for (const name of await files.list(directory)) {
    if (name !== LOCK) await files.removeAll(join(directory, name));
  }
}

async function copy(
  { files, directory }: RestoreOptions,
  backup: Backup,
  to: string,
  progress: ReturnType<typeof createProgress>,
): Promise<void> {
  const folders = new Set([to]);
  for (const file of backup.files) {
    const whole = await findFile(files, directory, file);
    if (!whole.ok) throw new FileError("restore", file.file, whole.error.message); // It was whole a moment ago.
    const path = join(to, file.file);
    if (!folders.has(dirname(path))) await files.makeDirectory(dirname(path));
    folders.add(dirname(path));
    await writeDurably(files, path, whole.value.bytes);
    progress.add(file);
  }
  for (const folder of folders) await files.syncDirectory(folder);
}
