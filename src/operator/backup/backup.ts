import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Clock } from "../../model/time/clock.ts";
import { FileError, type Files, ignoreFileError } from "../../runtime/files.ts";
import type { CopySqlite } from "../../runtime/sqlite.ts";
import { type BackupDirectory, createBackupDirectory, isEmptyForBackup, readBackup } from "./directory.ts";
import type { Backup, BackupFile } from "./file.ts";
import { ATTEMPTS_MAX, type Gathered, gather } from "./gather.ts";

/** The result of a backup. */
export interface BackupReport {
  readonly takenMs: number;
  readonly lastSequence: number;
  /** All files that make up the backup. */
  readonly files: number;
  readonly bytes: number;
  /** Files that were new to the backup directory; linked ones take no space of their own. */
  readonly copiedFiles: number;
  readonly copiedBytes: number;
  readonly linkedFiles: number;
  readonly linkedBytes: number;
  /** What is wrong with the data directory, a line each. It is backed up nevertheless. */
  readonly problems: readonly string[];
  readonly durationMs: number;
}

export interface BackupOptions {
  readonly files: Files;
  readonly copySqlite: CopySqlite;
  readonly clock: Clock;
  readonly program: string;
  readonly dataDir: string;
  /** The backup's directory. */
  readonly directory: string;
  /** Locks a directory, which it creates if missing; the result releases the lock. */
  take(directory: string): Promise<() => void>;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/** Copies a data directory, which may be in use. A failure is a sentence, and leaves the former backup as it was. */
export async function backUp(options: BackupOptions): Promise<Result<BackupReport, string>> {
  const { directory, take } = options;
  const initial = await findFormer(options);
  if (!initial.ok) return initial; // The directory is not ours, so nothing is written to it.
  const release = await take(directory);
  try {
    const former = await findFormer(options);
    return former.ok ? await replaceBackup(options, former.value) : former;
  } finally {
    release();
  }
}

/** The backup that is there, null if there is none, or a sentence that says why this directory can't have one. */
async function findFormer({ files, directory }: BackupOptions): Promise<Result<Backup | null, string>> {
  const backup = await readBackup(files, directory);
  if (!backup.ok || backup.value !== null || (await isEmptyForBackup(files, directory))) return backup;
  return fail(`"${directory}" holds files and no backup: a backup needs a directory of its own.`);
}

async function replaceBackup(
  options: BackupOptions,
  former: Backup | null,
): Promise<Result<BackupReport, string>> {
  const { files, clock, program, directory } = options;
  const startedMs = performance.now();
  const takenMs = clock.nowMs();
  const target = createBackupDirectory(files, directory);
  try {
    await target.resume(former);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    // What waits is not discarded, because it may belong to the former backup.
    return fail(`${messageOf(error)}. ${asItWas(former)}`);
  }
  const gathered = await gatherNext(options, target, former);
  if (!gathered.ok) return gathered;
  const { files: gatheredFiles, copied, linked, lastSequence, problems } = gathered.value;
  const backup: Backup = { takenMs, program, lastSequence, files: gatheredFiles, problems };
  const committed = await commit(options, target, former, backup);
  if (!committed.ok) return committed;
  try {
    await target.settle(backup);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return fail(`${messageOf(error)}. ${UNSETTLED}`);
  }
  return ok({
    takenMs,
    lastSequence,
    files: gatheredFiles.length,
    bytes: sumOfBytes(gatheredFiles),
    copiedFiles: copied.length,
    copiedBytes: sumOfBytes(copied),
    linkedFiles: linked.length,
    linkedBytes: sumOfBytes(linked),
    problems,
    durationMs: performance.now() - startedMs,
  });
}

/** Copies all files to the backup's directory; if that fails, discards what was copied. */
async function gatherNext(
  options: BackupOptions,
  target: BackupDirectory,
  former: Backup | null,
): Promise<Result<Gathered, string>> {
  try {
    const gathered = await gather({ ...options, target, former });
    if (gathered !== null) return ok(gathered);
    await target.discard();
    return fail(`The archive changed ${ATTEMPTS_MAX} times while it was read. ${asItWas(former)}`);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    await target.discard().catch(ignoreFileError);
    return fail(`${messageOf(error)}. ${asItWas(former)}`);
  }
}

/** Makes the new backup the valid one. A disk may do so and report a failure nevertheless. */
async function commit(
  { files, directory }: BackupOptions,
  target: BackupDirectory,
  former: Backup | null,
  backup: Backup,
): Promise<Result<void, string>> {
  try {
    return ok(await target.commit(backup));
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const counting = await readBackup(files, directory).catch(ignoreFileError);
    if (!counting?.ok) return fail(`${messageOf(error)}. ${DOUBTFUL}`);
    if (!isDeepStrictEqual(counting.value, former)) return fail(`${messageOf(error)}. ${UNLASTING}`);
    await target.discard().catch(ignoreFileError);
    return fail(`${messageOf(error)}. ${asItWas(former)}`);
  }
}

const UNSETTLED =
  "The new backup is complete and can be restored, but not all of its files are in place: back up again.";
const UNLASTING =
  "The new backup is complete and can be restored, but a power failure may undo it: back up again.";
const DOUBTFUL =
  "It could not be read whether the new backup is valid; if it is not, the former one is unchanged: back up again.";

function asItWas(former: Backup | null): string {
  if (former === null) return "There is no backup yet.";
  return `The backup of ${new Date(former.takenMs).toISOString()} is as it was.`;
}

function sumOfBytes(all: readonly BackupFile[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}
