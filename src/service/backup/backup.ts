import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { FileError, type Files, unlessFileError } from "../../runtime/files.ts";
import type { Clock } from "../../time/clock.ts";
import { createBackupDirectory, isEmptyForBackup, readBackup } from "./directory.ts";
import type { Backup, BackupFile } from "./file.ts";
import { ATTEMPTS_MAX, type Gathered, gather } from "./gather.ts";

/** What a backup came to. */
export interface BackupReport {
  readonly takenMs: number;
  readonly lastSequence: number;
  /** Of all files that make up the backup. */
  readonly files: number;
  readonly bytes: number;
  /** Of those that it did not have before; linked ones take no room of their own. */
  readonly copiedFiles: number;
  readonly copiedBytes: number;
  readonly linkedFiles: number;
  readonly linkedBytes: number;
  /** What is wrong with the data directory, a line each: it is backed up as it is. */
  readonly problems: readonly string[];
  readonly durationMs: number;
}

export interface BackupOptions {
  readonly files: Files;
  readonly clock: Clock;
  /** Version of this program. */
  readonly program: string;
  readonly dataDir: string;
  /** The backup's. */
  readonly directory: string;
  /** Takes the lock of a directory, which it makes where it is missing; the result gives it free. */
  take(directory: string): Promise<() => void>;
  onProgress(doneBytes: number, totalBytes: number): void;
}

/**
 * Copies a data directory, also one that is in use. Fails with a sentence where there is no backup to be had; the
 * former one is then as it was.
 */
export async function backUp(options: BackupOptions): Promise<Result<BackupReport, string>> {
  const { directory, take } = options;
  const found = await findFormer(options);
  if (!found.ok) return found; // Nothing is written to a directory that is none of ours.
  const release = await take(directory);
  try {
    const former = await findFormer(options);
    return former.ok ? await replaceBackup(options, former.value) : former;
  } finally {
    release();
  }
}

/** The backup that is there; null where there is none, or a sentence that says why none can be. */
async function findFormer({ files, directory }: BackupOptions): Promise<Result<Backup | null, string>> {
  const found = await readBackup(files, directory);
  if (!found.ok || found.value !== null || (await isEmptyForBackup(files, directory))) return found;
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
    return fail(`${messageOf(error)}. ${asItWas(former)}`); // What waits is not discarded: it may be the former's.
  }
  let gathered: Gathered | null;
  let backup: Backup;
  try {
    gathered = await gather({ ...options, target, former });
    if (gathered === null) {
      await target.discard();
      return fail(`The archive changed ${ATTEMPTS_MAX} times while it was read. ${asItWas(former)}`);
    }
    const { files: found, lastSequence, problems } = gathered;
    backup = { takenMs, program, lastSequence, files: found, problems };
    await target.commit(backup);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (!(await isStill(options, former))) return fail(`${messageOf(error)}. ${UNSETTLED}`);
    await target.discard().catch(unlessFileError);
    return fail(`${messageOf(error)}. ${asItWas(former)}`);
  }
  try {
    await target.settle(backup);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return fail(`${messageOf(error)}. ${UNSETTLED}`);
  }
  const { copied, linked, problems, lastSequence } = gathered;
  return ok({
    takenMs,
    lastSequence,
    files: backup.files.length,
    bytes: sumOfBytes(backup.files),
    copiedFiles: copied.length,
    copiedBytes: sumOfBytes(copied),
    linkedFiles: linked.length,
    linkedBytes: sumOfBytes(linked),
    problems,
    durationMs: performance.now() - startedMs,
  });
}

const UNSETTLED =
  "The new backup is whole and can be restored, but not all of it is in its place: back up again.";

/** Whether the former backup counts yet: a disk may refuse after it has put the new one in its place. */
async function isStill({ files, directory }: BackupOptions, former: Backup | null): Promise<boolean> {
  try {
    const found = await readBackup(files, directory);
    return found.ok && JSON.stringify(found.value) === JSON.stringify(former);
  } catch (error) {
    unlessFileError(error);
    return false;
  }
}

function asItWas(former: Backup | null): string {
  if (former === null) return "There is no backup yet.";
  return `The backup of ${new Date(former.takenMs).toISOString()} is as it was.`;
}

function sumOfBytes(all: readonly BackupFile[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}
