import { dirname, join, resolve } from "node:path";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { FileError, type Files, ignoreFileError, moveDurably } from "../../runtime/files.ts";
import { findFile, LOCK, readBackup, writeDurably } from "./directory.ts";
import type { Backup, BackupFile } from "./file.ts";

/** The result of a restore. */
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
  /** The backup's directory. */
  readonly directory: string;
  /** Missing or empty. */
  readonly dataDir: string;
  /** Changes the copied directory, which is locked, before it gets its name. A failure is a sentence. */
  prepare?(directory: string): Promise<Result<void, string>>;
  /** Locks a directory, which it creates if missing; the result releases the lock. */
  take(directory: string): Promise<() => void>;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** Why nothing was restored: a sentence, and the damaged files of the backup, a line each. */
export interface RestoreFault {
  readonly message: string;
  readonly damaged: readonly string[];
}

/**
 * Creates a data directory from a backup. Every file is read and checked before the first is written, and the new
 * directory gets its name in one step, when all of it is on the disk.
 */
export async function restore(options: RestoreOptions): Promise<Result<RestoreReport, RestoreFault>> {
  const { files, directory, dataDir, take } = options;
  const initial = await findBackup(options);
  if (!initial.ok) return initial;
  if ((await files.list(dataDir)).length > 0)
    return refuse(`"${dataDir}" is not empty: a backup is restored to a new directory.`);
  const release = await take(directory).catch((error: unknown) => {
    ignoreFileError(error); // A backup on a read-only disk has no other user.
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
  const backup = await readBackup(files, directory);
  if (!backup.ok) return refuse(backup.error);
  return backup.value === null ? refuse(`"${directory}" holds no backup.`) : ok(backup.value);
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
    const message = `${damaged.length} of the ${backup.files.length} files of the backup can't be used. Nothing was restored.`;
    return fail({ message, damaged });
  }

  const target = resolve(dataDir);
  const unfinished = `${target}.restoring`;
  await files.makeDirectory(unfinished, target);
  const release = await take(unfinished);
  try {
    await clear(files, unfinished);
    await copy(options, backup, unfinished, progress);
    const prepared = (await options.prepare?.(unfinished)) ?? ok(undefined);
    if (!prepared.ok) {
      await files.removeAll(unfinished).catch(ignoreFileError);
      return refuse(`${prepared.error} Nothing was restored.`);
    }
    await moveDurably(files, unfinished, target); // The lock moves with it.
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

/** Whether the rename happened, and only making it durable failed. */
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

/** Removes what an interrupted restore left. */
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
    if (!whole.ok) throw new FileError("restore", file.file, whole.error.message); // It changed after the check.
    const path = join(to, file.file);
    if (!folders.has(dirname(path))) await files.makeDirectory(dirname(path));
    folders.add(dirname(path));
    await writeDurably(files, path, whole.value.bytes);
    progress.add(file);
  }
  for (const folder of folders) await files.syncDirectory(folder);
}
