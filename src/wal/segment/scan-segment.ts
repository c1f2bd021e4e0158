import { type DamagedRange, FrameScanner } from "../../lib/frames/frame-scanner.ts";
import { type Views, viewsOf } from "../../lib/frames/views.ts";
import { SEGMENT_SEQUENCES_MAX } from "./segment.ts";
import { formatOf, type SegmentFormat } from "./segment-format.ts";

/** A scanner at a segment's first frame; a damaged head counts as damage. Throws a `NewerFormatError`. */
export function openFrames(
  path: string,
  number: number,
  views: Views,
  sequenceBefore: number,
): { readonly scanner: FrameScanner; readonly format: SegmentFormat } {
  const format = formatOf(views, number, path);
  const { head, goodHead, frames } = format;
  const start = Math.min(head.length, views.bytes.length);
  const scanner = new FrameScanner(views, frames, {
    start,
    damagedFrom: goodHead ? start : 0,
    sequenceBefore: Math.max(sequenceBefore, number - 1),
    sequenceEnd: number + SEGMENT_SEQUENCES_MAX,
  });
  return { scanner, format };
}

/** What the checksums of a segment's frames tell, without a look into its entries. */
export interface ScannedSegment {
  readonly damage: readonly DamagedRange[];
  /** Of its last good frame; the one before its first where it has none. */
  readonly lastSequence: number;
  /** Where its frames begin. */
  readonly headBytes: number;
}

/** Scans a segment that comes after this sequence. Throws a `NewerFormatError` where a newer program wrote it. */
export function scanSegment(
  path: string,
  number: number,
  bytes: Uint8Array,
  sequenceBefore: number,
): ScannedSegment {
  const { scanner, format } = openFrames(path, number, viewsOf(bytes), sequenceBefore);
  while (scanner.next());
  return { damage: scanner.damage, lastSequence: scanner.sequence, headBytes: format.head.length };
}
