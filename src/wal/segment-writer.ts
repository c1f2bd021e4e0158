import { join } from "node:path";
import { assert } from "../lib/assert.ts";
import { createSaltedFrames, type SaltedFrames } from "../lib/frames/frame.ts";
import type { CreateSalt } from "../lib/frames/head.ts";
import type { AppendFile, Files } from "../runtime/files.ts";
import { EntryCounter, type EntryTally, type ReportsByDay } from "./batch-parts.ts";
import type { ClosedSegments } from "./closed-segments.ts";
import { encodeSegmentHead, SEGMENT_HEAD_BYTES, SEGMENT_SEQUENCES_MAX, segmentName } from "./segment.ts";

// Writes groups of entries into segments, one after the other.

export interface SegmentWriterOptions {
  readonly files: Files;
  readonly directory: string;
  readonly createSalt: CreateSalt;
  /** If the next group would exceed this, a new segment is begun. */
  readonly segmentBytesMax: number;
  /** Receives each segment that is no longer written to. */
  readonly earlier: ClosedSegments;
}

/** Entries that are written together. */
export interface WriteGroup<Entry extends { readonly frame: Uint8Array<ArrayBuffer> }> {
  readonly entries: readonly Entry[];
  readonly reports: ReportsByDay;
  /** The index of the last standing entry; -1 if there is none. */
  readonly lastStanding: number;
  /** The index of the last erasure; -1 if there is none. */
  readonly lastErasure: number;
  readonly refusedBytes: number;
  readonly bytes: number;
}

type FrameGroup = WriteGroup<{ readonly frame: Uint8Array<ArrayBuffer> }>;

/** The segment that is being written. */
interface LogSegment {
  readonly number: number;
  readonly file: AppendFile;
  /** Stamps frames for this segment only. */
  readonly frames: SaltedFrames;
  /** Bytes of the head and the frames, all of which are on disk. */
  bytes: number;
  /** The tally of its frames. */
  readonly tally: EntryCounter;
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #segment: LogSegment | null = null;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** The segment that is being written; null before the first group, and after `leave()`. */
  get segment(): (Pick<LogSegment, "number" | "bytes"> & { readonly tally: EntryTally }) | null {
    return this.#segment;
  }

  /** Resolves once all frames of the group are on disk, with sequences from `firstSequence` on. */
  async write(group: FrameGroup, firstSequence: number): Promise<{ readonly syncMs: number }> {
    const { entries, reports, lastStanding, lastErasure, refusedBytes, bytes } = group;
    if (this.#segment !== null && !this.#hasRoom(this.#segment, group, firstSequence))
      await this.leave(firstSequence - 1);
    this.#segment ??= await this.#begin(firstSequence);
    const segment = this.#segment;
    const { stamp } = segment.frames;
    entries.forEach(({ frame }, index) => {
      stamp(frame, firstSequence + index);
    });
    await segment.file.append(entries.map(({ frame }) => frame));
    const startedMs = performance.now();
    await segment.file.sync();
    const syncMs = performance.now() - startedMs;
    segment.bytes += bytes;
    const sequenceOf = (index: number) => (index < 0 ? 0 : firstSequence + index);
    segment.tally.addAll({
      reports,
      standingSequence: sequenceOf(lastStanding),
      erasureSequence: sequenceOf(lastErasure),
      refusedBytes,
    });
    return { syncMs };
  }

  /** Removes from the disk what a failed write may have left, and closes the segment. */
  async cutBack(lastSequence: number): Promise<void> {
    assert(this.#segment !== null, "a segment that is cut back is open");
    const { file, bytes } = this.#segment;
    await file.truncate(bytes);
    await file.sync();
    await this.leave(lastSequence);
  }

  /** Closes the segment, so that the next group begins a new one. No entry of it has a greater sequence. */
  async leave(lastSequence: number): Promise<void> {
    const segment = this.#segment;
    if (segment === null) return;
    this.#segment = null;
    const { number, bytes, tally, file } = segment;
    const { reports, standingSequence, erasureSequence, refusedBytes } = tally;
    this.#options.earlier.add({
      number,
      bytes,
      reports,
      standingSequence,
      erasureSequence,
      refusedBytes,
      lastSequence,
      clearedSequence: 0,
      isRemovable: true,
    });
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
   * Creates a segment, with its head and name on disk. `replace()` is all or nothing: a full disk leaves no partial
   * segment.
   */
  async #begin(number: number): Promise<LogSegment> {
    const { files, directory, createSalt, earlier } = this.#options;
    const path = join(directory, segmentName(number));
    const salt = createSalt();
    await files.replace(path, encodeSegmentHead(number, salt));
    const file = await files.openAppend(path);
    earlier.forget(number); // A segment of this number that already exists has never held a frame.
    const frames = createSaltedFrames(salt);
    return { number, file, frames, bytes: SEGMENT_HEAD_BYTES, tally: new EntryCounter() };
  }
}
