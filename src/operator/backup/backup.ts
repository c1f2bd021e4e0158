import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Clock } from "../../model/time/clock.ts";
import { FileError, type Files, ignoreFileError } from "../../runtime/files.ts";
import { type BackupDirectory, createBackupDirectory, isEmptyForBackup, readBackup } from "./directory.ts";
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
  const gathered = await gatherNext(options, target, former);
  if (!gathered.ok) return gathered;
  const { files: found, copied, linked, lastSequence, problems } = gathered.value;
  const backup: Backup = { takenMs, program, lastSequence, files: found, problems };
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
    files: found.length,
    bytes: sumOfBytes(found),
    copiedFiles: copied.length,
    copiedBytes: sumOfBytes(copied),
    linkedFiles: linked.length,
    linkedBytes: sumOfBytes(linked),
    problems,
    durationMs: performance.now() - startedMs,
  });
}

/** Brings all files to the backup's directory; where that fails, what was brought is forgotten. */
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

/** Makes the new backup the one that counts. A disk may refuse after it has done so, and then say nothing of it. */
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
  "The new backup is whole and can be restored, but not all of it is in its place: back up again.";
const UNLASTING =
  "The new backup is whole and can be restored, but a power failure may take it away: back up again.";
const DOUBTFUL =
  "It could not be read whether the new backup counts; where it doesn't, all is as it was: back up again.";

function asItWas(former: Backup | null): string {
  if (former === null) return "There is no backup yet.";
  return `The backup of ${new Date(former.takenMs).toISOString()} is as it was.`;
}

function sumOfBytes(all: readonly BackupFile[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}
