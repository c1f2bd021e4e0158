import { fail, ok, type Result } from "../lib/result.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import { type Files, isDiskFull, isOutOfDescriptors } from "../runtime/files.ts";
import { createEntryEncoder } from "./entry.ts";
import { FRAME_HEADER_BYTES, sealFrame } from "./frame.ts";
import { createSegment, type LogSegment } from "./log-segment.ts";

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
  readonly state: "open" | "full" | "failed" | "closed";
  /** Finishes what was appended, then takes no more. */
  close(): Promise<void>;
}

export interface LogWriterOptions {
  readonly files: Files;
  readonly directory: string;
  /** A segment that would exceed this with the next group is left as it is, and another begun. */
  readonly segmentBytesMax: number;
  /** Of encoded entries not on disk yet. A larger one is taken when nothing else waits. */
  readonly queueBytesMax: number;
  /** The sequence for the next entry, and for the number of the next segment. */
  readonly nextSequence: number;
  /** Of the segments before that one. */
  readonly bytes: number;
  /** Why the log must not be appended to; null where it may. */
  readonly failure: unknown;
}

/** An entry that waits for the disk. */
interface Waiting {
  readonly frame: Uint8Array<ArrayBuffer>;
  resolve(outcome: Result<number, LogRefusal>): void;
}

/**
 * Appends groups: all entries that wait are written at once and share one sync. A run always begins a segment
 * of its own, so that no bytes of unknown state lie before a new frame.
 */
export function createLogWriter(options: LogWriterOptions): Wal {
  const { files, directory, segmentBytesMax, queueBytesMax } = options;
  const encoder = createEntryEncoder();
  let nextSequence = options.nextSequence;
  let earlierBytes = options.bytes;
  let failure = options.failure;
  let isFull = false;
  let segment: LogSegment | null = null;
  let waiting: Waiting[] = [];
  let queueBytes = 0;
  let writing: Promise<void> = Promise.resolve();
  let isWriting = false;
  let closed: Promise<void> | null = null;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      const groupBytes = group.reduce((sum, { frame }) => sum + frame.length, 0);
      const refusal = await writeGroup(group, groupBytes);
      queueBytes -= groupBytes;
      if (refusal !== null) for (const entry of group) entry.resolve(fail(refusal));
    }
    isWriting = false;
  }

  async function writeGroup(group: readonly Waiting[], groupBytes: number): Promise<LogRefusal | null> {
    if (failure !== null) return { kind: "log_failed", cause: failure };
    const firstSequence = nextSequence;
    try {
      if (segment?.hasFrames && segment.bytes + groupBytes > segmentBytesMax) await leaveSegment(segment);
      segment ??= await createSegment(files, directory, firstSequence);
      group.forEach(({ frame }, index) => {
        sealFrame(frame, firstSequence + index);
      });
      await segment.append(
        group.map(({ frame }) => frame),
        groupBytes,
      );
    } catch (error) {
      return refusalOf(await cutBackAfter(error));
    }
    isFull = false;
    nextSequence += group.length;
    group.forEach(({ resolve }, index) => {
      resolve(ok(firstSequence + index));
    });
    return null;
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

  async function leaveSegment(left: LogSegment): Promise<void> {
    segment = null;
    if (left.hasFrames) earlierBytes += left.bytes; // Without frames, the next segment takes its place.
    await left.close();
  }

  async function finish(): Promise<void> {
    await writing;
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
        waiting.push({ frame, resolve });
      });
      if (!isWriting) writing = writeAll();
      return outcome;
    },
    get lastSequence() {
      return nextSequence - 1;
    },
    get bytes() {
      return earlierBytes + (segment?.bytes ?? 0);
    },
    get state() {
      if (closed !== null) return "closed";
      if (failure !== null) return "failed";
      return isFull ? "full" : "open";
    },
    close() {
      closed ??= finish();
      return closed;
    },
  };
}
