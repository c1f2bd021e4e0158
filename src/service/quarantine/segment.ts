import { join } from "node:path";
import { createSaltedFrames, FRAME_HEADER_BYTES, type SaltedFrames } from "../../lib/frames/frame.ts";
import type { DamagedRange } from "../../lib/frames/frame-scanner.ts";
import { HEAD_BYTES, HeadFormat, type OpenedFrames } from "../../lib/frames/head.ts";
import { type Views, viewsOf } from "../../lib/frames/views.ts";
import type { EntrySummary } from "./entry.ts";

/*
 * One file of the quarantine: the head of a file of salted frames, and frames with one entry each (entry-format.ts).
 * Before a process appends to a segment, it writes and syncs an empty frame: so a start knows by the greatest sequence
 * where a write may have been interrupted.
 */

const HEADS = new HeadFormat("WHEREQRN", 1, "quarantine segment");
const NAME = /^(\d{12})\.entries$/;
/** Files of the service beside the segments: when entries expire, and how far a node has come. */
export const EXPIRY_FILE = "expiry.json";
export const STREAM_POSITION_FILE = "stream.json";
const NOTES = [EXPIRY_FILE, STREAM_POSITION_FILE];

/** A segment of this size is complete. A whole one is read for one entry, and rewritten when one is deleted. */
export const SEGMENT_BYTES_MAX = 1024 * 1024;

export interface Segment {
  readonly path: string;
  /** The size of the file; everything after the head is valid frames. */
  bytes: number;
  readonly head: Uint8Array;
  readonly frames: SaltedFrames;
  /** Its entries by sequence. Other frames, such as entries that were never acknowledged, disappear with a rewrite. */
  readonly live: Map<number, IndexedEntry>;
  /** False if the disk may not have the segment as memory has it: it must be rewritten before anything is appended. */
  mayAppend: boolean;
}

/** The part of an entry that is in memory: its summary, and its position on the disk. */
export interface IndexedEntry extends EntrySummary {
  lastArrivedMs: number;
  count: number;
  /** Its size as it counts in the shares. */
  readonly bytes: number;
  readonly sequence: number;
  readonly segment: Segment;
}

export function segmentPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(12, "0")}.entries`);
}

/** The segment's number; null if the file is not a segment. */
export function parseSegmentName(name: string): number | null {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Whether a file belongs to the quarantine: a segment, or one of the service's files beside them. */
export function isInQuarantine(name: string): boolean {
  return parseSegmentName(name) !== null || NOTES.includes(name);
}

/** A segment with a salt and no entries. */
export function createSegment(path: string, salt: Uint8Array): Segment {
  const head = HEADS.encode(0, salt);
  const frames = createSaltedFrames(salt);
  return { path, bytes: head.length, head, frames, live: new Map(), mayAppend: true };
}

/** The parsed bytes of a segment. */
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
 * Bad bytes after the last valid frame that an interrupted write explains: in the segment that was last written to, or
 * in place of the empty frame that was to begin it.
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
