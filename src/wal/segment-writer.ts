import { join } from "node:path";
import { assert } from "../lib/assert.ts";
import { createSaltedFrames, type SaltedFrames } from "../lib/frames/frame.ts";
import type { CreateSalt } from "../lib/frames/head.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { AppendFile, Files } from "../runtime/files.ts";
import { addDays, type ReportsByDay } from "./batch-parts.ts";
import type { ClosedSegments } from "./closed-segments.ts";
import { encodeSegmentHead, SEGMENT_HEAD_BYTES, SEGMENT_SEQUENCES_MAX, segmentName } from "./segment.ts";

/*
 * Writes groups of entries into segments, one after the other.
 */

export interface SegmentWriterOptions {
  readonly files: Files;
  readonly directory: string;
  readonly createSalt: CreateSalt;
  /** A segment that would exceed this with the next group is left as it is, and another begun. */
  readonly segmentBytesMax: number;
  /** Takes each segment that is not written any more. */
  readonly earlier: ClosedSegments;
}

/** Entries that are written at once. */
export interface WriteGroup<Entry extends { readonly frame: Uint8Array<ArrayBuffer> }> {
  readonly entries: readonly Entry[];
  /** How many reports of each day they have. */
  readonly reports: ReportsByDay;
  readonly bytes: number;
}

type FrameGroup = WriteGroup<{ readonly frame: Uint8Array<ArrayBuffer> }>;

/** The segment that is being written. */
interface LogSegment {
  readonly number: number;
  readonly file: AppendFile;
  /** Completes frames for this segment and no other. */
  readonly frames: SaltedFrames;
  /** Of its head and frames. All of them are on the disk. */
  bytes: number;
  /** In its frames. */
  readonly reports: Map<UtcDay, number>;
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #segment: LogSegment | null = null;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** The segment that is being written; null before the first group, and after a segment was left. */
  get segment(): (Pick<LogSegment, "bytes"> & { readonly reports: ReportsByDay }) | null {
    return this.#segment;
  }

  /**
   * Resolves once all frames of the group are on disk, numbered from this sequence on, with how long their sync took.
   */
  async write(group: FrameGroup, firstSequence: number): Promise<{ readonly syncMs: number }> {
    const { entries, reports, bytes } = group;
    if (this.#segment !== null && !this.#hasRoom(this.#segment, group, firstSequence))
      await this.leave(firstSequence - 1);
    this.#segment ??= await this.#begin(firstSequence);
    const segment = this.#segment;
    const { seal } = segment.frames;
    entries.forEach(({ frame }, index) => {
      seal(frame, firstSequence + index);
    });
    await segment.file.append(entries.map(({ frame }) => frame));
    const startedMs = performance.now();
    await segment.file.sync();
    const syncMs = performance.now() - startedMs;
    segment.bytes += bytes;
    addDays(reports, segment.reports);
    return { syncMs };
  }

  /** Takes back, on the disk too, what a failed write may have left, and leaves the segment. */
  async cutBack(lastSequence: number): Promise<void> {
    assert(this.#segment !== null, "what is cut back is being written");
    const { file, bytes } = this.#segment;
    await file.truncate(bytes);
    await file.sync();
    await this.leave(lastSequence);
  }

  /** The next group begins a segment. No entry of the segment that is left has a greater sequence. */
  async leave(lastSequence: number): Promise<void> {
    const left = this.#segment;
    if (left === null) return;
    this.#segment = null;
    const { number, bytes, reports, file } = left;
    this.#options.earlier.add({ number, bytes, reports, lastSequence, isRemovable: true });
    await file.close();
  }

  #hasRoom(segment: LogSegment, { entries, bytes }: FrameGroup, firstSequence: number): boolean {
    if (segment.bytes === SEGMENT_HEAD_BYTES) return true;
    const sequenceEnd = segment.number + SEGMENT_SEQUENCES_MAX;
    return (
      segment.bytes + bytes <= this.#options.segmentBytesMax && firstSequence + entries.length <= sequenceEnd
    );
  }

  /**
   * Puts a new segment in place, head and name on disk. `replace` does so whole or not at all: if the disk is full, no
   * half of a segment is left.
   */
  async #begin(number: number): Promise<LogSegment> {
    const { files, directory, createSalt, earlier } = this.#options;
    const path = join(directory, segmentName(number));
    const salt = createSalt();
    await files.replace(path, encodeSegmentHead(number, salt));
    const file = await files.openAppend(path);
    earlier.forget(number); // A segment of this number that already exists has never held a frame.
    return { number, file, frames: createSaltedFrames(salt), bytes: SEGMENT_HEAD_BYTES, reports: new Map() };
  }
}
