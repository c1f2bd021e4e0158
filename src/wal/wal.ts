import { join } from "node:path";
import { type Damage, isDamageFile } from "../directory/damaged-files.ts";
import { removeTemporaryFiles } from "../directory/temporary-files.ts";
import { type CreateSalt, createRandomSalt } from "../lib/frames/head.ts";
import { FileError, type Files, isDiskFull } from "../runtime/files.ts";
import { ClosedSegments } from "./closed-segments.ts";
import type { ClosedSegment } from "./coverage.ts";
import { EntryError } from "./entry/entry.ts";
import type { LogWrite, Wal } from "./log.ts";
import { LogWriter } from "./log-writer.ts";
import { repairLog } from "./repair.ts";
import { type ReplayedLog, type ReplayedSegment, type ReplayOptions, replayLog } from "./replay.ts";
import { isSegmentName, segmentNumbers } from "./segment.ts";
import { segmentSize } from "./segment-reader.ts";

/**
 * The log of everything that was acknowledged: segments (segment.ts) of frames (frame.ts), each with one entry
 * (entry.ts). Opening the log replays and repairs it, then makes it ready for appends. Archived
 * reports leave the log, mostly as whole segments.
 */
export interface WalOptions extends ReplayOptions {
  /** Where damaged bytes are saved. */
  readonly damagedDirectory: string;
  readonly segmentBytesMax: number;
  readonly queueBytesMax: number;
  /**
   * The least sequence to use, whatever is left of the log: entries below it are known elsewhere, and new ones must not
   * be confused with them.
   */
  readonly sequenceMin: number;
  /** Creates the salts; random by default. */
  readonly createSalt?: CreateSalt;
  /** Called after every group that was written. */
  onWritten?(write: LogWrite): void;
  /** Called once, with the reason, if the follower fails to take an entry. */
  onBroken?(error: unknown): void;
  /**
   * Called when an entry could not be applied, before the replay starts over without it. If it is not set, such an
   * entry fails the start.
   */
  onReplayAgain?(failure: EntryError): Promise<void>;
}

/** The most entries that may be at fault themselves. If there are more, the program or the machine is at fault. */
const UNUSABLE_MAX = 100;

export interface LogRecovery {
  readonly segments: number;
  readonly entries: number;
  readonly records: number;
  /** Bytes of all segments before the repair. */
  readonly bytes: number;
  readonly damage: readonly Damage[];
  /** The end of a write that was interrupted and never acknowledged. */
  readonly tornTail: Damage | null;
  /**
   * Every intact entry up to this one was read. A segment after it could not be read at all, but may become readable.
   * Infinity if there is none.
   */
  readonly readUpTo: number;
}

/**
 * Opens the log, whatever its state. Throws a `FormatVersionError`, before anything is changed, if another version of
 * the program wrote any of it, and a `FileError` if it can't be read.
 */
export async function openWal(options: WalOptions): Promise<{ wal: Wal; recovery: LogRecovery }> {
  const { files, directory, damagedDirectory, createSalt = createRandomSalt } = options;
  await files.makeDirectory(directory);
  const replayed = await replayUsable(options);
  const { segments } = replayed;
  const nextSequence = Math.max(replayed.nextSequence, options.sequenceMin);
  const repairOptions = { files, directory, damagedDirectory, createSalt };
  const { damage, tornTail, unrepaired } = await repairLog(repairOptions, segments, nextSequence);
  damage.push(...(await unreadMisnamed(files, directory, replayed.misnamed)));
  await removeTemporaryFiles(files, directory, isSegmentName);
  await removeTemporaryFiles(files, damagedDirectory, isDamageFile);
  const failure = await rewriteNewest(files, replayed);

  const closed = await closedSegments(files, directory, segments, unrepaired);
  const earlier = new ClosedSegments(files, directory, createSalt, closed);
  const { segmentBytesMax, queueBytesMax, onWritten, onBroken } = options;
  const limits = { createSalt, segmentBytesMax, queueBytesMax };
  const callbacks = {
    ...(onWritten === undefined ? {} : { onWritten }),
    ...(onBroken === undefined ? {} : { onBroken }),
  };
  const wal = new LogWriter({ files, directory, ...limits, ...callbacks, nextSequence, earlier, failure });
  const unreadable = segments.find(({ isReadable }) => !isReadable);
  const readUpTo = unreadable === undefined ? Number.POSITIVE_INFINITY : unreadable.number - 1;
  return { wal, recovery: { ...totalsOf(replayed), damage, tornTail, readUpTo } };
}

/**
 * Replays the log without the entries that can't be applied to memory, which then count as damage. After a failure a
 * batch may be half applied, so the replay starts over each time. Throws the `EntryError` of an entry beyond
 * `UNUSABLE_MAX`, and leaves the log as it was.
 */
async function replayUsable(options: WalOptions): Promise<ReplayedLog> {
  const { onReplayAgain } = options;
  const rejected = new Set<number>();
  for (;;) {
    try {
      return await replayLog({ ...options, rejected });
    } catch (error) {
      if (!(error instanceof EntryError) || onReplayAgain === undefined) throw error;
      if (rejected.size === UNUSABLE_MAX) throw error;
      rejected.add(error.sequence);
      await onReplayAgain(error);
    }
  }
}

function totalsOf({ segments }: ReplayedLog) {
  const totals = { segments: segments.length, entries: 0, records: 0, bytes: 0 };
  for (const { entries, records, bytes } of segments) {
    totals.entries += entries;
    totals.records += records;
    totals.bytes += bytes;
  }
  return totals;
}

/** The contents of these files are unknown, so they stay as they are and count as damage until an operator decides. */
function unreadMisnamed(files: Files, directory: string, names: readonly string[]): Promise<Damage[]> {
  return Promise.all(
    names.map(async (name) => {
      const file = join(directory, name);
      return { file, offset: 0, bytes: await segmentSize(files, file), savedAs: null };
    }),
  );
}

/**
 * Makes sure that replayed entries are on disk, since a repeat of them will be acknowledged without a write. A process
 * that died may have written them without a sync, or with a failed one: after a failed sync, the system treats what it
 * still has in memory as written, and the next sync succeeds without writing it. So the segment is replaced by a copy.
 * If the disk is full, its bytes are overwritten in place, since a sync alone might do nothing. Returns why they are
 * not on disk, or null.
 */
async function rewriteNewest(files: Files, { segments }: ReplayedLog): Promise<unknown> {
  const newest = segments.findLast(({ entries }) => entries > 0);
  if (newest === undefined) return null;
  const { path } = newest;
  return fileErrorOf(replaceWithCopy(files, path));
}

async function replaceWithCopy(files: Files, path: string): Promise<void> {
  const bytes = await files.read(path);
  try {
    await files.replace(path, bytes);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    await files.overwrite(path, bytes);
  }
}

/** The `FileError` that the work fails with, or null. */
async function fileErrorOf(work: Promise<void>): Promise<FileError | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof FileError) return error;
    throw error;
  }
}

/** The segments after the repair. One that was not replayed, such as one that the repair created, stays for now. */
async function closedSegments(
  files: Files,
  directory: string,
  replayed: readonly ReplayedSegment[],
  unrepaired: ReadonlySet<string>,
): Promise<ClosedSegment[]> {
  const byNumber = new Map(replayed.map((segment) => [segment.number, segment]));
  const closed: ClosedSegment[] = [];
  for (const { name, number } of segmentNumbers(await files.list(directory))) {
    const path = join(directory, name);
    const segment = byNumber.get(number);
    closed.push({
      number,
      bytes: await segmentSize(files, path),
      reports: segment?.reports ?? new Map(),
      standingSequence: segment?.standingSequence ?? 0,
      erasureSequence: segment?.erasureSequence ?? 0,
      refusedBytes: segment?.refusedBytes ?? 0,
      lastSequence: segment?.lastSequence ?? number - 1,
      clearedSequence: 0,
      isRemovable: segment !== undefined && !unrepaired.has(path),
    });
  }
  return closed;
}
