import { type DamagedRange, FrameScanner } from "./frame.ts";
import { hasGoodHeader, SEGMENT_HEADER_BYTES } from "./segment.ts";
import { viewsOf } from "./views.ts";

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
  const views = viewsOf(bytes);
  const start = Math.min(SEGMENT_HEADER_BYTES, bytes.length);
  const damagedFrom = hasGoodHeader(views, number, path) ? start : 0;
  const scanner = new FrameScanner(views, start, damagedFrom, Math.max(sequenceBefore, number - 1));
  while (scanner.next());
  return { damage: scanner.damage, lastSequence: scanner.sequence };
}
