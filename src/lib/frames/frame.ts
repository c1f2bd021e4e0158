import { crc32 } from "node:zlib";
import { assert } from "../assert.ts";
import { type Views, viewsOf } from "./views.ts";

/*
 * One frame, 8-aligned in its segment:
 *
 *    0  salt of the segment, 8 bytes
 *    8  u32  CRC-32 of the salt and everything after this
 *   12  u32  bytes of the payload, a multiple of 8
 *   16  u64  sequence
 *   24  payload
 *
 * The payload contains what clients sent. They do not know the salt, so they cannot forge a frame within it: whatever
 * happens to the bytes around, only what the log wrote as a frame is recognized as one.
 */
export const FRAME_HEADER_BYTES = 24;
export const FRAME_SALT_BYTES = 8;

const CRC_START = 12;
const TWO_32 = 2 ** 32;
const SEQUENCE_HIGH_MAX = 2 ** 21 - 1; // The highest 32 bits of a safe integer.

/** Stamps and recognizes the frames of one segment. Positions are multiples of 8 with room for a frame's header. */
export interface SaltedFrames {
  /** Fills the header of a frame, whose payload is behind it, in a buffer of its own. */
  stamp(frame: Uint8Array<ArrayBuffer>, sequence: number): void;
  /** The payload size of the good frame at a position; -1 if there is none. */
  payloadBytes(views: Views, at: number): number;
  /** The sequence of the good frame at a position. */
  sequence(views: Views, at: number): number;
}

export function createSaltedFrames(salt: Uint8Array): SaltedFrames {
  assert(salt.length === FRAME_SALT_BYTES, "a salt has 8 bytes");
  const { u32 } = viewsOf(Uint8Array.from(salt));
  const [saltLow, saltHigh] = [u32[0]!, u32[1]!];
  const saltCrc = crc32(salt);

  return {
    stamp(frame, sequence) {
      assert(frame.length % 8 === 0 && frame.byteOffset === 0, "a frame is aligned");
      const header = new Uint32Array(frame.buffer, 0, FRAME_HEADER_BYTES / 4);
      header[0] = saltLow;
      header[1] = saltHigh;
      header[3] = frame.length - FRAME_HEADER_BYTES;
      header[4] = sequence % TWO_32;
      header[5] = Math.floor(sequence / TWO_32);
      header[2] = crc32(frame.subarray(CRC_START), saltCrc);
    },
    payloadBytes({ bytes, u32 }, at) {
      const header = at >> 2;
      if (u32[header] !== saltLow || u32[header + 1] !== saltHigh) return -1;
      const payloadBytes = u32[header + 3]!;
      const end = at + FRAME_HEADER_BYTES + payloadBytes;
      if (payloadBytes % 8 !== 0 || end > bytes.length || u32[header + 5]! > SEQUENCE_HIGH_MAX) return -1;
      return crc32(bytes.subarray(at + CRC_START, end), saltCrc) === u32[header + 2] ? payloadBytes : -1;
    },
    sequence: ({ u32 }, at) => u32[(at >> 2) + 4]! + u32[(at >> 2) + 5]! * TWO_32,
  };
}
