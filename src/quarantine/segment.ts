import { join } from "node:path";
import { createSaltedFrames, type SaltedFrames } from "../lib/frames/frame.ts";
import { type DamagedRange, FrameScanner } from "../lib/frames/frame-scanner.ts";
import { HEAD_BYTES, HEADERS_AT, HeadFormat } from "../lib/frames/head.ts";
import { type Views, viewsOf } from "../lib/frames/views.ts";
import { NewerFormatError } from "../lib/newer-format-error.ts";
import type { EntrySummary } from "./entry.ts";

/*
 * One file of the quarantine: the head of a file of salted frames, and frames with one entry each (entry-format.ts).
 */

const HEADS = new HeadFormat("WHEREQRN");
const VERSION = 1;
const NAME = /^(\d{12})\.entries$/;

/** Past this another segment is begun; all of one is read for an entry of it, and written anew when one goes. */
export const SEGMENT_BYTES_MAX = 1024 * 1024;

export interface Segment {
  /** As in its name: the one that was appended to last has the greatest. */
  number: number;
  path: string;
  /** Of the file; all of them good frames behind the head. */
  bytes: number;
  readonly head: Uint8Array;
  readonly frames: SaltedFrames;
  /** Its entries by sequence. What else it holds, such as an entry that was never acknowledged, goes with time. */
  readonly live: Map<number, IndexedEntry>;
  /** False where it may not be as we think on the disk: then nothing is appended before it was put in place anew. */
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

/** One of a salt, as if it had no entries. */
export function createSegment(path: string, number: number, salt: Uint8Array): Segment {
  const head = HEADS.encode(VERSION, 0, salt); // Its number changes with its name.
  const frames = createSaltedFrames(salt);
  return { number, path, bytes: head.length, head, frames, live: new Map(), mayAppend: true };
}

/** What a segment's bytes say. */
export interface SegmentReader {
  readonly views: Views;
  readonly scanner: FrameScanner;
  /** Null where both headers are damaged: then no frame can be told from what clients sent. */
  readonly salt: Uint8Array | null;
  readonly goodHead: boolean;
}

/** A reader at a segment's first frame; a damaged head counts as damage. Throws a `NewerFormatError`. */
export function readFrames(bytes: Uint8Array, path: string): SegmentReader {
  const views = viewsOf(bytes);
  const salts = HEADERS_AT.map((at) => readSalt(views, at, path));
  const salt = salts.find((found) => found !== null) ?? null;
  const head = salt === null ? null : HEADS.encode(VERSION, 0, salt);
  const goodHead = head !== null && views.bytes.subarray(0, HEAD_BYTES).equals(head);
  const start = salt === null ? 0 : Math.min(HEAD_BYTES, bytes.length);
  const scanner = new FrameScanner(views, salt === null ? NO_FRAMES : createSaltedFrames(salt), {
    start,
    damagedFrom: goodHead ? start : 0,
    sequenceBefore: 0,
    sequenceEnd: Number.MAX_SAFE_INTEGER,
  });
  return { views, scanner, salt, goodHead };
}

const NO_FRAMES = { payloadBytes: () => -1, sequence: () => 0, damagedBytes: () => 8 };

function readSalt(views: Views, at: number, path: string): Uint8Array | null {
  const version = HEADS.readVersion(views, at);
  if (version !== null && version > VERSION)
    throw new NewerFormatError("quarantine segment", path, `format version ${VERSION}`, `${version}`);
  return version === null ? null : (HEADS.readSalt(views, at)?.slice() ?? null);
}

/** Bad bytes after the last good frame: where a write was cut short, if it is the segment that was written last. */
export function findTornTail(damage: readonly DamagedRange[], bytes: number): DamagedRange | null {
  const last = damage.at(-1);
  if (last === undefined || last.offset < HEAD_BYTES) return null;
  return last.offset + last.bytes === bytes ? last : null;
}
