import { type DamagedRange, FrameScanner } from "./frame.ts";
import { hasGoodHeader, SEGMENT_HEADER_BYTES } from "./segment.ts";
import { type Views, viewsOf } from "./views.ts";

/** A scanner at a segment's first frame; a damaged header counts as damage. Throws a `NewerFormatError`. */
export function openFrames(
  path: string,
  number: number,
  views: Views,
  sequenceBefore: number,
): { readonly scanner: FrameScanner; readonly goodHeader: boolean } {
  const goodHeader = hasGoodHeader(views, number, path);
  const start = Math.min(SEGMENT_HEADER_BYTES, views.bytes.length);
  const damagedFrom = goodHeader ? start : 0;
  const scanner = new FrameScanner(views, start, damagedFrom, Math.max(sequenceBefore, number - 1));
  return { scanner, goodHeader };
}

/** What the checksums of a segment's frames tell, without a look into its entries. */
export interface ScannedSegment {
  readonly damage: readonly DamagedRange[];
  /** Of its last good frame; the one before its first where it has none. */
  readonly lastSequence: number;
}

/** Scans a segment that comes after this sequence. Throws a `NewerFormatError` where a newer program wrote it. */
export function scanSegment(
  path: string,
  number: number,
  bytes: Uint8Array,
  sequenceBefore: number,
): ScannedSegment {
  const { scanner } = openFrames(path, number, viewsOf(bytes), sequenceBefore);
  while (scanner.next());
  return { damage: scanner.damage, lastSequence: scanner.sequence };
}
