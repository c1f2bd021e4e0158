import { crc32 } from "node:zlib";
import { FRAME_HEADER_BYTES } from "../../lib/frames/frame.ts";
import type { FrameFormat } from "../../lib/frames/frame-format.ts";
import type { Views } from "../../lib/frames/views.ts";

/*
 * One frame of version 1, which is read and never written, 8-aligned in its segment:
 *
 *    0  u32  magic
 *    4  u32  CRC-32 of everything after it, the payload included
 *    8  u64  sequence
 *   16  u32  bytes of the payload, a multiple of 8
 *   20  u32  0
 *   24  payload
 */

const MAGIC = 0xfaf9f8f7;
const CRC_START = 8;
const TWO_32 = 2 ** 32;
const SEQUENCE_HIGH_MAX = 2 ** 21 - 1; // The highest 32 bits of a safe integer.
/** No entry is larger: 10,000 reports in at most 16 MiB of JSON. */
const PAYLOAD_BYTES_MAX = 128 * 1024 * 1024;

/**
 * A client could put a whole frame of this version into its reports. So nothing is looked for within a bad frame:
 * where one begins and its length may be right, all of that length is damage, though it end after the segment does.
 * Only where the length itself is damaged can't more be done than to look for the next frame.
 */
export const FRAMES_V1: FrameFormat = {
  payloadBytes(views, at) {
    const { bytes, u32 } = views;
    const header = at >> 2;
    const payloadBytes = u32[header + 4]!;
    const end = at + FRAME_HEADER_BYTES + payloadBytes;
    if (!beginsV1Frame(views, at) || end > bytes.length || u32[header + 3]! > SEQUENCE_HIGH_MAX) return -1;
    return crc32(bytes.subarray(at + CRC_START, end)) === u32[header + 1] ? payloadBytes : -1;
  },
  sequence: ({ u32 }, at) => u32[(at >> 2) + 2]! + u32[(at >> 2) + 3]! * TWO_32,
  damagedBytes(views, at, isExpected) {
    const begins = isExpected ? hasPlausibleLength(views, at) : beginsV1Frame(views, at);
    return begins ? FRAME_HEADER_BYTES + views.u32[(at >> 2) + 4]! : 8;
  },
};

/** Whether a frame, good or bad, begins at a position. */
export function beginsV1Frame(views: Views, at: number): boolean {
  return views.u32[at >> 2] === MAGIC && hasPlausibleLength(views, at);
}

function hasPlausibleLength({ u32 }: Views, at: number): boolean {
  const payloadBytes = u32[(at >> 2) + 4]!;
  return payloadBytes % 8 === 0 && payloadBytes <= PAYLOAD_BYTES_MAX;
}
