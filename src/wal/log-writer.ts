import { fail, ok, type Result } from "../lib/result.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import { type Files, isDiskFull, isOutOfDescriptors } from "../runtime/files.ts";
import type { UtcDay } from "../time/utc-day.ts";
import { addBatchDays } from "./batch-days.ts";
import type { ClosedSegments, Coverage, TrimmedLog } from "./closed-segments.ts";
import { createEntryEncoder } from "./entry/entry.ts";
import { createSegment, type LogSegment } from "./log-segment.ts";
import { FRAME_HEADER_BYTES } from "./segment/frame.ts";
import { type CreateSalt, SEGMENT_SEQUENCES_MAX } from "./segment/segment.ts";

/** Why a batch was not taken in. None of it is in the log, as far as the log can tell. */
export type LogRefusal =
  /** There may be room again later: every append tries. */
  | { readonly kind: "log_full" }
  /** No segment could be opened, for want of file descriptors; nothing was written, and every append tries. */
  | { readonly kind: "log_unopened"; readonly cause: unknown }
  /** The disk can't be trusted any more; only a restart tells what is on it. */
  | { readonly kind: "log_failed"; readonly cause: unknown }
  | { readonly kind: "log_queue_full" }
  | { readonly kind: "log_closed" };

export interface Wal {
  /** Resolves with the entry's sequence once it is on disk. Entries are on disk, and resolve, in the order of the calls. */
  append(appId: AppId, batch: ReportBatch): Promise<Result<number, LogRefusal>>;
  /** No entry on disk has a greater sequence; 0 where there was never one. */
  readonly lastSequence: number;
  /** Of all segments, as far as they are on disk. */
  readonly bytes: number;
  /** Of encoded entries that wait for the disk. */
  readonly queueBytes: number;
  readonly state: "open" | "full" | "failed" | "closed";
  /** Of the reports in the segment that is being written, as far as they are on disk. */
  readonly currentDays: ReadonlySet<UtcDay>;
  /** Whether a start may find reports of the day, be it ones that are covered. */
  mayHold(day: UtcDay): boolean;
  /**
   * What is appended from now on goes to a new segment; what waits already may too. Resolves when the one written
   * so far is closed, at once where it holds nothing. Where closing it fails the `FileError` is thrown, and nothing
   * is lost: all of it is on disk.
   */
  rotate(): Promise<void>;
  /**
   * Removes every segment whose days are all covered at its last sequence, and from others what is covered where that is
   * much of them or expired (`ClosedSegments.trim`). Never the one that is being written, the newest (it says from where
   * sequences go on), or one that could not be read or repaired at the start. A log that has no report in the format
   * that is written now stays one that an earlier program reads. Does nothing once the log has failed or is closed.
   */
  trim(coverage: Coverage): Promise<TrimmedLog>;
  /** Finishes what was appended, then takes no more. */
  close(): Promise<void>;
}

/** A group of entries that has come to the disk. */
export interface LogWrite {
  readonly entries: number;
  readonly bytes: number;
  /** How long the disk took to make it durable. */
  readonly syncMs: number;
}

export interface LogWriterOptions {
  readonly files: Files;
  readonly directory: string;
  readonly createSalt: CreateSalt;
  /** A segment that would exceed this with the next group is left as it is, and another begun. */
  readonly segmentBytesMax: number;
  /** Of encoded entries not on disk yet. A larger one is taken when nothing else waits. */
  readonly queueBytesMax: number;
  /** The sequence for the next entry, and for the number of the next segment. */
  readonly nextSequence: number;
  /** The segments before that one. */
  readonly earlier: ClosedSegments;
  /** Why the log must not be appended to; null where it may. */
  readonly failure: unknown;
  onWritten?(write: LogWrite): void;
}

/** An entry that waits for the disk. */
interface Waiting {
  readonly frame: Uint8Array<ArrayBuffer>;
  resolve(outcome: Result<number, LogRefusal>): void;
}

/** Entries that are written at once. */
interface Group {
  readonly entries: Waiting[];
  readonly reports: Map<UtcDay, number>;
  bytes: number;
}

function emptyGroup(): Group {
  return { entries: [], reports: new Map(), bytes: 0 };
}

const NOTHING_TRIMMED: TrimmedLog = { segments: 0, bytes: 0 };

/**
 * Appends groups: all entries that wait are written at once and share one sync. A run always begins a segment
 * of its own, so that no bytes of unknown state lie before a new frame.
 */
export function createLogWriter(options: LogWriterOptions): Wal {
  const { files, directory, createSalt, segmentBytesMax, queueBytesMax, earlier, onWritten } = options;
  const encoder = createEntryEncoder();
  let nextSequence = options.nextSequence;
  let failure = options.failure;
  let isFull = false;
  let segment: LogSegment | null = null;
  let waiting = emptyGroup();
  let queueBytes = 0;
  let rotation: PromiseWithResolvers<void> | null = null;
  let writing: Promise<void> = Promise.resolve();
  let isWriting = false;
  let trimming: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | null = null;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (rotation !== null || waiting.entries.length > 0) {
      if (rotation !== null) await endSegment(rotation);
      const group = waiting;
      if (group.entries.length === 0) continue;
      waiting = emptyGroup();
      const refusal = await writeGroup(group);
      queueBytes -= group.bytes;
      if (refusal !== null) for (const entry of group.entries) entry.resolve(fail(refusal));
    }
    isWriting = false;
  }

  /** Runs between two groups, so that none is cut in two. */
  async function endSegment({ resolve, reject }: PromiseWithResolvers<void>): Promise<void> {
    rotation = null;
    try {
      if (segment !== null) await leaveSegment(segment);
      resolve();
    } catch (error) {
      reject(error);
    }
  }

  async function writeGroup({ entries, reports, bytes }: Group): Promise<LogRefusal | null> {
    if (failure !== null) return { kind: "log_failed", cause: failure };
    const firstSequence = nextSequence;
    try {
      if (segment !== null && !hasRoom(segment, firstSequence, bytes, entries.length))
        await leaveSegment(segment);
      segment ??= await beginSegment(firstSequence);
      const { seal } = segment.frames;
      entries.forEach(({ frame }, index) => {
        seal(frame, firstSequence + index);
      });
      const frames = entries.map(({ frame }) => frame);
      const { syncMs } = await segment.append(frames, bytes, reports);
      onWritten?.({ entries: entries.length, bytes, syncMs });
    } catch (error) {
      return refusalOf(await cutBackAfter(error));
    }
    isFull = false;
    nextSequence += entries.length;
    entries.forEach(({ resolve }, index) => {
      resolve(ok(firstSequence + index));
    });
    return null;
  }

  function hasRoom(written: LogSegment, sequence: number, bytes: number, count: number): boolean {
    if (!written.hasFrames) return true;
    const sequenceEnd = written.number + SEGMENT_SEQUENCES_MAX;
    return written.bytes + bytes <= segmentBytesMax && sequence + count <= sequenceEnd;
  }

  /** What stands in the way now: a full disk that left the log as it was, or what went wrong for good. */
  async function cutBackAfter(error: unknown): Promise<unknown> {
    if (segment === null || !isDiskFull(error)) return error;
    try {
      await segment.cutBack();
      await leaveSegment(segment);
      return error;
    } catch (cutError) {
      return new Error("Cannot take back what a full disk left of a write", { cause: cutError });
    }
  }

  function refusalOf(error: unknown): LogRefusal {
    isFull = isDiskFull(error);
    if (isFull) return { kind: "log_full" };
    if (segment === null && isOutOfDescriptors(error)) return { kind: "log_unopened", cause: error };
    failure = error;
    return { kind: "log_failed", cause: error };
  }

  async function beginSegment(number: number): Promise<LogSegment> {
    const begun = await createSegment(files, directory, number, createSalt());
    earlier.forget(number); // One of this number never held a frame.
    return begun;
  }

  async function leaveSegment(left: LogSegment): Promise<void> {
    segment = null;
    const { number, bytes, reports } = left;
    earlier.add({ number, version: 2, bytes, reports, lastSequence: nextSequence - 1, isRemovable: true });
    await left.close();
  }

  async function trim(coverage: Coverage): Promise<TrimmedLog> {
    if (closed !== null || failure !== null) return NOTHING_TRIMMED;
    return earlier.trim(coverage, segment === null, segment !== null || earlier.hasNewFormat);
  }

  async function finish(): Promise<void> {
    await Promise.all([writing, trimming]);
    if (segment !== null) await leaveSegment(segment);
  }

  return {
    async append(appId, batch) {
      if (closed !== null) return fail({ kind: "log_closed" });
      if (failure !== null) return fail({ kind: "log_failed", cause: failure });
      const frame = encoder.encode(appId, batch, FRAME_HEADER_BYTES);
      if (queueBytes > 0 && queueBytes + frame.length > queueBytesMax)
        return fail({ kind: "log_queue_full" });
      queueBytes += frame.length;
      const outcome = new Promise<Result<number, LogRefusal>>((resolve) => {
        waiting.entries.push({ frame, resolve });
      });
      waiting.bytes += frame.length;
      addBatchDays(batch, waiting.reports);
      if (!isWriting) writing = writeAll();
      return outcome;
    },
    get lastSequence() {
      return nextSequence - 1;
    },
    get bytes() {
      return earlier.bytes + (segment?.bytes ?? 0);
    },
    get queueBytes() {
      return queueBytes;
    },
    mayHold: (day) => segment?.reports.has(day) === true || earlier.mayHold(day),
    get currentDays() {
      return new Set(segment?.reports.keys());
    },
    get state() {
      if (closed !== null) return "closed";
      if (failure !== null) return "failed";
      return isFull ? "full" : "open";
    },
    async rotate() {
      if (closed !== null) return;
      rotation ??= Promise.withResolvers();
      const { promise } = rotation;
      if (!isWriting) writing = writeAll();
      await promise;
    },
    trim(coverage) {
      const trimmed = trimming.then(() => trim(coverage)); // One after the other: each file is removed once.
      trimming = trimmed.catch(() => undefined);
      return trimmed;
    },
    close() {
      closed ??= finish();
      return closed;
    },
  };
}
