import type { DamagedRange } from "../../lib/frames/frame-scanner.ts";
import { viewsOf } from "../../lib/frames/views.ts";
import { openSegment } from "./segment.ts";

/** What the checksums of a segment's frames tell, without a look into its entries. */
export interface ScannedSegment {
  readonly damage: readonly DamagedRange[];
  /** Of its last good frame; the one before its first where it has none. */
  readonly lastSequence: number;
}

/** Scans a segment that comes after this sequence. Throws a `FormatVersionError`. */
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
