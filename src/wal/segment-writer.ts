import { assert } from "../lib/assert.ts";
import type { CreateSalt } from "../lib/frames/head.ts";
import type { Files } from "../runtime/files.ts";
import type { ClosedSegments } from "./closed-segments.ts";
import { createSegment, type LogSegment } from "./log-segment.ts";
import { SEGMENT_SEQUENCES_MAX } from "./segment.ts";
import type { WriteGroup } from "./write-queue.ts";

/*
 * Writes groups of entries into segments, one after the other.
 */

export interface SegmentWriterOptions {
  readonly files: Files;
  readonly directory: string;
  readonly createSalt: CreateSalt;
  /** A segment that would exceed this with the next group is left as it is, and another begun. */
  readonly segmentBytesMax: number;
  /** Where a segment goes that is not written any more. */
  readonly earlier: ClosedSegments;
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  #segment: LogSegment | null = null;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** The one that is being written; null before the first group, and after a segment was left. */
  get segment(): LogSegment | null {
    return this.#segment;
  }

  /**
   * Resolves once all frames of the group are on disk, numbered from this sequence on, with how long their sync took.
   */
  async write(group: WriteGroup, firstSequence: number): Promise<{ readonly syncMs: number }> {
    const { entries, reports, bytes } = group;
    if (this.#segment !== null && !this.#hasRoom(this.#segment, group, firstSequence))
      await this.leave(firstSequence - 1);
    this.#segment ??= await this.#begin(firstSequence);
    const { seal } = this.#segment.frames;
    entries.forEach(({ frame }, index) => {
      seal(frame, firstSequence + index);
    });
    const frames = entries.map(({ frame }) => frame);
    return this.#segment.append(frames, bytes, reports);
  }

  /** Takes back, on the disk too, what a failed write may have left, and leaves the segment. */
  async cutBack(lastSequence: number): Promise<void> {
    assert(this.#segment !== null, "what is cut back is being written");
    await this.#segment.cutBack();
    await this.leave(lastSequence);
  }

  /** The next group begins a segment. Of the one left, which is whole on the disk, none has a greater sequence. */
  async leave(lastSequence: number): Promise<void> {
    const left = this.#segment;
    if (left === null) return;
    this.#segment = null;
    const { number, bytes, reports } = left;
    this.#options.earlier.add({ number, bytes, reports, lastSequence, isRemovable: true });
    await left.close();
  }

  #hasRoom(segment: LogSegment, { entries, bytes }: WriteGroup, firstSequence: number): boolean {
    if (!segment.hasFrames) return true;
    const sequenceEnd = segment.number + SEGMENT_SEQUENCES_MAX;
    return (
      segment.bytes + bytes <= this.#options.segmentBytesMax && firstSequence + entries.length <= sequenceEnd
    );
  }

  async #begin(number: number): Promise<LogSegment> {
    const { files, directory, createSalt, earlier } = this.#options;
    const begun = await createSegment(files, directory, number, createSalt());
    earlier.forget(number); // One of this number never held a frame.
    return begun;
  }
}
