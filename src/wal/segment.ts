import { assert } from "../lib/assert.ts";
import type { DamagedRange } from "../lib/frames/frame-scanner.ts";
import { HEAD_BYTES, HeadFormat, type OpenedFrames } from "../lib/frames/head.ts";
import { type Views, viewsOf } from "../lib/frames/views.ts";

// A segment is one file of the log: the head of a file of salted frames (head.ts), then frames. Its name is its number,
// the first sequence that it may contain. So the name of the newest segment alone tells where sequences continue, even
// if every frame is lost, and no sequence is used twice.

const HEADS = new HeadFormat("WHEREWAL", 3, "log segment");

export const SEGMENT_HEAD_BYTES = HEAD_BYTES;

/**
 * A segment's sequences are from its number to before its number plus this. A frame outside counts as damage, and can't
 * make the log use sequences that a later start would refuse. A segment of 64 MiB, or one group, has far fewer entries.
 */
export const SEGMENT_SEQUENCES_MAX = 2 ** 24;

export function encodeSegmentHead(number: number, salt: Uint8Array): Uint8Array {
  return HEADS.encode(number, salt);
}

/**
 * Opens the frames of the segment that follows this sequence. Throws a `FormatVersionError` if another version of the
 * program wrote it.
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

/** The result of checking the checksums of a segment's frames. */
export interface ScannedSegment {
  readonly damage: readonly DamagedRange[];
  /** The sequence of the last good frame; if there is none, the one before the segment. */
  readonly lastSequence: number;
}

/** Checks the frames of a segment without decoding their entries. */
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
/** Marks a file that was meant to be a segment. */
const SUFFIX = ".wal";
/** More than a million entries a second for a century, with as much again as reserve. */
const NUMBER_MAX = 2 ** 52;

export function segmentName(number: number): string {
  assert(isNumber(number), "a segment's number can be read back from its name");
  return `${String(number).padStart(NAME_DIGITS, "0")}${SUFFIX}`;
}

/** The segment's number, or null if it is not the name of a segment. */
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

/** The segments among the names of a directory, in log order. */
export function segmentNumbers(names: readonly string[]): { name: string; number: number }[] {
  const segments: { name: string; number: number }[] = [];
  for (const name of names) {
    const number = parseSegmentName(name);
    if (number !== null) segments.push({ name, number });
  }
  return segments.sort((a, b) => a.number - b.number);
}

/** Names that look like a segment's but are not. Their position in the log is unknown, so they are not read. */
export function misnamedSegments(names: readonly string[]): string[] {
  return names.filter((name) => name.endsWith(SUFFIX) && parseSegmentName(name) === null);
}
