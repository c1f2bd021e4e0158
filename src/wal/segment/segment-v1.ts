import { FRAME_HEADER_BYTES } from "../../lib/frames/frame.ts";
import { type Views, viewsOf } from "../../lib/frames/views.ts";
import { NewerFormatError } from "../../lib/newer-format-error.ts";
import { beginsV1Frame } from "./frame-v1.ts";
import { writeCommonHeader } from "./segment.ts";

/*
 * A segment of version 1, which is read, and repaired as what it is: a header, then frames (frame-v1.ts).
 *
 *    0  "WHEREWAL"
 *    8  u32  format version, 1
 *   12  u8   number columns, profile fields, state fields of its entries; u8 0
 *   16  u64  number
 *   24  u32  0
 *   28  u32  CRC-32 of bytes 0 to 28
 */
const HEADER_BYTES = 32;

/** What the entries of version 0.1 had; no program wrote more of them in this version of the format. */
const FIELD_COUNTS = [8, 9, 6];
const FIELD_COUNTS_OFFSET = 12;

export function encodeSegmentV1Head(number: number): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  const views = viewsOf(header);
  views.bytes.set(FIELD_COUNTS, FIELD_COUNTS_OFFSET);
  writeCommonHeader(views, 1, number);
  return header;
}

/** Throws a `NewerFormatError` where the entries have fields that this version never had. */
export function refuseMoreFields({ bytes }: Views, path: string): void {
  const counts = FIELD_COUNTS.map((_, i) => bytes[FIELD_COUNTS_OFFSET + i]!);
  if (counts.every((count, i) => count <= FIELD_COUNTS[i]!)) return;
  const expected = `at most ${FIELD_COUNTS.join(", ")} fields`;
  throw new NewerFormatError("log segment", path, expected, counts.join(", "));
}

/** Whether the first frame lies where it does in this version: told so where the header is damaged. */
export function isSegmentV1(views: Views): boolean {
  const { length } = views.bytes;
  return length >= HEADER_BYTES + FRAME_HEADER_BYTES && beginsV1Frame(views, HEADER_BYTES);
}
