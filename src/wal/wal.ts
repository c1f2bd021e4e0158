import { join } from "node:path";
import { type Damage, isDamageFile } from "../directory/damaged-files.ts";
import { removeTemporaryFiles } from "../directory/temporary-files.ts";
import { type CreateSalt, createRandomSalt } from "../lib/frames/head.ts";
import { FileError, type Files, isDiskFull } from "../runtime/files.ts";
import { type ClosedSegment, createClosedSegments } from "./closed-segments.ts";
import { EntryError } from "./entry/entry.ts";
import type { LogWrite, Wal } from "./log.ts";
import { LogWriter } from "./log-writer.ts";
import { repairLog } from "./repair.ts";
import { type ReplayedLog, type ReplayedSegment, type ReplayOptions, replayLog } from "./replay.ts";
import { isSegmentName, segmentNumbers } from "./segment.ts";
import { segmentSize } from "./segment-reader.ts";

/**
 * The log of everything that was acknowledged: segments (segment.ts) of frames (frame.ts), each with one entry
 * (entry.ts), a batch of reports. Opening it replays it, repairs it and makes it ready to be appended to. What is
 * kept elsewhere leaves it by whole segments.
 */
export interface WalOptions extends ReplayOptions {
  /** Where bytes go that were no good frame. */
  readonly damagedDirectory: string;
  readonly segmentBytesMax: number;
  readonly queueBytesMax: number;
  /**
   * No sequence below it is given, whatever is left of the log: entries of these sequences are known elsewhere,
   * and new ones must not pass for them.
   */
  readonly sequenceMin: number;
  /** Left out, salts are random. */
  readonly createSalt?: CreateSalt;
  /** Told of every group of entries that has come to the disk. */
  onWritten?(write: LogWrite): void;
  /** The follower could not take an entry in, with what it said. Told once. */
  onBroken?(error: unknown): void;
  /**
   * An entry could not be taken in: those before it come again, and then those after it. Without this function such an
   * entry fails the start.
   */
  onReplayAgain?(failure: EntryError): Promise<void>;
}

/** Up to 100 entries may be at fault themselves. If more can't be taken in, the program or the machine is at fault. */
const UNUSABLE_MAX = 100;

export interface LogRecovery {
  readonly segments: number;
  readonly entries: number;
  readonly records: number;
  /** Of all segments, as they were found. */
  readonly bytes: number;
  readonly damage: readonly Damage[];
  /** The end of a write that was cut short, and never acknowledged. */
  readonly tornTail: Damage | null;
  /**
   * Every entry up to this one was read, as far as it is undamaged: a segment after it could not be read at all,
   * and may be readable another day. Infinity where there is none.
   */
  readonly readUpTo: number;
}

/**
 * Opens the log, whatever state it is in. Throws a `FormatVersionError`, before anything is changed, where a program of
 * another version wrote any of it, and a `FileError` where it can't be read.
 */
export async function openWal(options: WalOptions): Promise<{ wal: Wal; recovery: LogRecovery }> {
  const { files, directory, damagedDirectory, createSalt = createRandomSalt } = options;
  await files.makeDirectory(directory);
  const replayed = await replayUsable(options);
  const { segments } = replayed;
  const nextSequence = Math.max(replayed.nextSequence, options.sequenceMin);
  const repairOptions = { files, directory, damagedDirectory, createSalt };
  const { damage, tornTail, leftAsFound } = await repairLog(repairOptions, segments, nextSequence);
  damage.push(...(await unreadMisnamed(files, directory, replayed.misnamed)));
  await removeTemporaryFiles(files, directory, isSegmentName);
  await removeTemporaryFiles(files, damagedDirectory, isDamageFile);
  const failure = await rewriteNewest(files, replayed);

  const found = await closedSegments(files, directory, segments, leftAsFound);
  const earlier = createClosedSegments(files, directory, createSalt, found);
  const { segmentBytesMax, queueBytesMax, onWritten, onBroken } = options;
  const limits = { createSalt, segmentBytesMax, queueBytesMax };
  const told = {
    ...(onWritten === undefined ? {} : { onWritten }),
    ...(onBroken === undefined ? {} : { onBroken }),
  };
  const wal = new LogWriter({ files, directory, ...limits, ...told, nextSequence, earlier, failure });
  const unreadable = segments.find(({ isReadable }) => !isReadable);
  const readUpTo = unreadable === undefined ? Number.POSITIVE_INFINITY : unreadable.number - 1;
  return { wal, recovery: { ...totalsOf(replayed), damage, tornTail, readUpTo } };
}

/**
 * Replays the log without the entries that memory can't take in, which count as damage. A batch may be half in memory
 * where it broke off, so the replay begins again each time. Throws the `EntryError` of an entry beyond `UNUSABLE_MAX`,
 * with the log as it was.
 */
async function replayUsable(options: WalOptions): Promise<ReplayedLog> {
  const { onReplayAgain } = options;
  const leftOut = new Set<number>();
  for (;;) {
    try {
      return await replayLog({ ...options, leftOut });
    } catch (error) {
      if (!(error instanceof EntryError) || onReplayAgain === undefined) throw error;
      if (leftOut.size === UNUSABLE_MAX) throw error;
      leftOut.add(error.sequence);
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

/** Nobody can tell what these hold, so they stay as they are and count as damage until somebody looks. */
function unreadMisnamed(files: Files, directory: string, names: readonly string[]): Promise<Damage[]> {
  return Promise.all(
    names.map(async (name) => {
      const file = join(directory, name);
      return { file, offset: 0, bytes: await segmentSize(files, file), savedAs: null };
    }),
  );
}

/**
 * A process that died may have written entries and not synced them, or synced in vain: after a failed sync the
 * system takes what it still has in memory for written, and the next sync succeeds without writing it. They were
 * replayed, a repeat of them will be answered as known, so from here on they must be on disk: the segment is put in
 * place anew. A full disk has no room for that; its bytes are written over themselves then, since a sync alone may be
 * in vain again. Returns why they are not on disk, or null.
 */
async function rewriteNewest(files: Files, { segments }: ReplayedLog): Promise<unknown> {
  const newest = segments.findLast(({ entries }) => entries > 0);
  if (newest === undefined) return null;
  const { path } = newest;
  return unlessRefused(putAnew(files, path));
}

async function putAnew(files: Files, path: string): Promise<void> {
  const bytes = await files.read(path);
  try {
    await files.replace(path, bytes);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    await files.overwrite(path, bytes);
  }
}

/** The disk's refusal, or null. */
async function unlessRefused(work: Promise<void>): Promise<FileError | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof FileError) return error;
    throw error;
  }
}

/** The segments as the repair left them. One that was not replayed, such as the repair's own, stays for now. */
async function closedSegments(
  files: Files,
  directory: string,
  replayed: readonly ReplayedSegment[],
  leftAsFound: ReadonlySet<string>,
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
      lastSequence: segment?.lastSequence ?? number - 1,
      isRemovable: segment !== undefined && !leftAsFound.has(path),
    });
  }
  return closed;
}
