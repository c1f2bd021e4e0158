import { HEAD_BYTES, HeadFormat, type OpenedFrames } from "../../lib/frames/head.ts";
import type { Views } from "../../lib/frames/views.ts";

export { type CreateSalt, createRandomSalt } from "../../lib/frames/head.ts";

/* One file of the log: the head of a file of salted frames (head.ts), and frames. */
const HEADS = new HeadFormat("WHEREWAL", 2, "log segment");

export const SEGMENT_HEAD_BYTES = HEAD_BYTES;

/**
 * A segment's sequences begin at its number and lie below that and this: a frame that says otherwise is damage, and
 * can't make the log count past what it reads back. A segment of 64 MiB, or one group of entries, has far fewer.
 */
export const SEGMENT_SEQUENCES_MAX = 2 ** 24;

/** What a segment begins with. */
export function encodeSegmentHead(number: number, salt: Uint8Array): Uint8Array {
  return HEADS.encode(number, salt);
}

/**
 * Opens the frames of a segment that comes after this sequence. Throws a `FormatVersionError` if a program of another
 * version wrote it.
 */
export function openSegment(
  path: string,
  number: number,
  views: Views,
  sequenceBefore: number,
): OpenedFrames {
  return HEADS.open(views, number, path, {
    sequenceBefore: Math.max(sequenceBefore, number - 1),
    sequenceEnd: number + SEGMENT_SEQUENCES_MAX,
  });
}
