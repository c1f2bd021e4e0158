import { join } from "node:path";
import { createSaltedFrames, FRAME_HEADER_BYTES, type SaltedFrames } from "../../lib/frames/frame.ts";
import type { DamagedRange } from "../../lib/frames/frame-scanner.ts";
import { HEAD_BYTES, HeadFormat, type OpenedFrames } from "../../lib/frames/head.ts";
import { type Views, viewsOf } from "../../lib/frames/views.ts";
import type { EntrySummary } from "./entry.ts";

/*
 * One file of the quarantine: the head of a file of salted frames, and frames with one entry each (entry-format.ts).
 * Whenever a segment begins to be appended to, an empty frame says so, and is on the disk before any entry behind it: a
 * start knows by the greatest sequence where a write may have been cut short.
 */

const HEADS = new HeadFormat("WHEREQRN", 1, "quarantine segment");
const NAME = /^(\d{12})\.entries$/;
/** Notes that the service keeps beside them: when entries expire, and how far a node has come. */
export const EXPIRY_FILE = "expiry.json";
export const STREAM_POSITION_FILE = "stream.json";
const NOTES = [EXPIRY_FILE, STREAM_POSITION_FILE];

/** Past this another segment is begun; all of one is read for an entry of it, and written anew when one goes. */
export const SEGMENT_BYTES_MAX = 1024 * 1024;

export interface Segment {
  readonly path: string;
  /** Of the file; all of them good frames behind the head. */
  bytes: number;
  readonly head: Uint8Array;
  readonly frames: SaltedFrames;
  /** Its entries by sequence. What else it holds, such as an entry that was never acknowledged, goes with time. */
  readonly live: Map<number, IndexedEntry>;
  /** False where the disk may not have it as we see it: it must be put in place anew before anything is appended. */
  mayAppend: boolean;
}

/** What memory knows of an entry: all that is asked for in lists, and where the rest lies. */
export interface IndexedEntry extends EntrySummary {
  lastArrivedMs: number;
  count: number;
  /** What it counts as in the shares. */
  readonly bytes: number;
  readonly sequence: number;
  readonly segment: Segment;
}

export function segmentPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(12, "0")}.entries`);
}

/** The segment's number; null where the file is no segment. */
export function parseSegmentName(name: string): number | null {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Whether a file belongs to the quarantine: a segment, or one of the notes beside them. */
export function isInQuarantine(name: string): boolean {
  return parseSegmentName(name) !== null || NOTES.includes(name);
}

/** One of a salt, as if it had no entries. */
export function createSegment(path: string, salt: Uint8Array): Segment {
  const head = HEADS.encode(0, salt);
  const frames = createSaltedFrames(salt);
  return { path, bytes: head.length, head, frames, live: new Map(), mayAppend: true };
}

/** What a segment's bytes say. */
export interface SegmentReader extends OpenedFrames {
  readonly views: Views;
}

/** Opens the frames of a segment. Throws a `FormatVersionError`. */
export function readFrames(bytes: Uint8Array, path: string): SegmentReader {
  const views = viewsOf(bytes);
  return {
    views,
    ...HEADS.open(views, 0, path, { sequenceBefore: 0, sequenceEnd: Number.MAX_SAFE_INTEGER }),
  };
}

/**
 * Bad bytes after the last good frame where a write was cut short: of the segment that was appended to last, or of the
 * empty frame that was to begin it.
 */
export function findTornTail(
  damage: readonly DamagedRange[],
  bytes: number,
  wasLast: boolean,
): DamagedRange | null {
  const last = damage.at(-1);
  if (last === undefined || last.offset < HEAD_BYTES || last.offset + last.bytes !== bytes) return null;
  if (last.isWritten) return null;
  return wasLast || last.bytes <= FRAME_HEADER_BYTES ? last : null;
}
