import { assert } from "../lib/assert.ts";
import type { DamagedRange } from "../lib/frames/frame-scanner.ts";
import { HEAD_BYTES, HeadFormat, type OpenedFrames } from "../lib/frames/head.ts";
import { type Views, viewsOf } from "../lib/frames/views.ts";

/*
 * A segment is one file of the log: the head of a file of salted frames (head.ts), and frames. Its name is its number,
 * the first sequence that it may contain. So the newest name alone says from where sequences go on, also when every
 * frame is gone, and no number is given twice.
 */

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

/** What the checksums of a segment's frames tell. */
export interface ScannedSegment {
  readonly damage: readonly DamagedRange[];
  /** The sequence of the last good frame; without one, the sequence before the segment. */
  readonly lastSequence: number;
}

/** Scans the frames of a segment like `openSegment`, and does not look into their entries. */
export function scanSegment(
  path: string,
  number: number,
  bytes: Uint8Array,
  sequenceBefore: number,
): ScannedSegment {
  const { scanner } = openSegment(path, number, viewsOf(bytes), sequenceBefore);
  while (scanner.next());
  return { damage: scanner.damage, lastSequence: scanner.sequence };
}

const NAME_DIGITS = 20;
const NAME = /^(\d{20})\.wal$/;
/** A name that ends like this was meant to be a segment's. */
const SUFFIX = ".wal";
/** A million entries a second for a century come to less, and above it there is as much room again to count on. */
const NUMBER_MAX = 2 ** 52;

export function segmentName(number: number): string {
  assert(isNumber(number), "a segment gets a number that is read back");
  return `${String(number).padStart(NAME_DIGITS, "0")}${SUFFIX}`;
}

/** The segment's number, or null if the name is not a segment's. */
export function parseSegmentName(name: string): number | null {
  const number = Number(NAME.exec(name)?.[1] ?? Number.NaN);
  return isNumber(number) ? number : null;
}

function isNumber(number: number): boolean {
  return number > 0 && number <= NUMBER_MAX;
}

export function isSegmentName(name: string): boolean {
  return parseSegmentName(name) !== null;
}

/** The segments among a directory's names, in log order. */
export function segmentNumbers(names: readonly string[]): { name: string; number: number }[] {
  const segments: { name: string; number: number }[] = [];
  for (const name of names) {
    const number = parseSegmentName(name);
    if (number !== null) segments.push({ name, number });
  }
  return segments.sort((a, b) => a.number - b.number);
}

/** Names that were meant to be a segment's and are not. Their place in the log is unknown, so none is read. */
export function misnamedSegments(names: readonly string[]): string[] {
  return names.filter((name) => name.endsWith(SUFFIX) && parseSegmentName(name) === null);
}
