import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Views, viewsOf } from "../entry/views.ts";
import { FRAME_SALT_BYTES } from "./frame.ts";

/*
 * One file of the log in version 2 of the format, which is written now (segment-v1.ts has the one before):
 *
 *    0     header
 *   48     zeros
 *   4096   the header again
 *   4144   frames (frame.ts)
 *
 * The header:
 *
 *    0  "WHEREWAL"                       28  u32  CRC-32 of bytes 0 to 28
 *    8  u32  format version              32  salt of the frames, 8 bytes
 *   12  u32  0                           40  u32  0
 *   16  u64  number                      44  u32  CRC-32 of bytes 0 to 44
 *   24  u32  0
 *
 * Without the salt no frame can be told from what clients sent, so it stands in two blocks of the disk. The first 32
 * bytes are as in version 1, whose programs go no further than to the version.
 */
const SEGMENT_HEADER_BYTES = 48;
/** Where the header stands. */
export const SEGMENT_HEADERS_AT = [0, 4096] as const;
/** Both headers and what lies between: frames begin behind. */
export const SEGMENT_HEAD_BYTES = SEGMENT_HEADERS_AT[1] + SEGMENT_HEADER_BYTES;

/**
 * A segment's sequences begin at its number and lie below that and this: a frame that says otherwise is damage, and
 * can't make the log count past what it reads back. A segment of 64 MiB, or one group of entries, has far fewer.
 */
export const SEGMENT_SEQUENCES_MAX = 2 ** 24;

export const SEGMENT_VERSION = 2;

const MAGIC = "WHEREWAL";
const COMMON_HEADER_BYTES = 32;
const VERSION_OFFSET = 8;
const NUMBER_OFFSET = 16;
const COMMON_CRC_OFFSET = 28;
const SALT_OFFSET = 32;
const HEADER_CRC_OFFSET = 44;
const TWO_32 = 2 ** 32;

/** For each new segment another, which nobody can know or guess. */
export type CreateSalt = () => Uint8Array;

export const createRandomSalt: CreateSalt = () => randomBytes(FRAME_SALT_BYTES);

/** What a segment begins with. */
export function encodeSegmentHead(number: number, salt: Uint8Array): Uint8Array {
  const head = new Uint8Array(SEGMENT_HEAD_BYTES);
  const { bytes, u32 } = viewsOf(head);
  writeCommonHeader(bytes, u32, SEGMENT_VERSION, number);
  bytes.set(salt, SALT_OFFSET);
  u32[HEADER_CRC_OFFSET >> 2] = crc32(bytes.subarray(0, HEADER_CRC_OFFSET));
  bytes.copyWithin(SEGMENT_HEADERS_AT[1], 0, SEGMENT_HEADER_BYTES);
  return head;
}

/** The salt in a header at a position; null where there is no good one. */
export function readSalt({ bytes, u32 }: Views, at: number): Uint8Array | null {
  if (bytes.length < at + SEGMENT_HEADER_BYTES) return null;
  const isGood = crc32(bytes.subarray(at, at + HEADER_CRC_OFFSET)) === u32[(at + HEADER_CRC_OFFSET) >> 2];
  return isGood ? bytes.subarray(at + SALT_OFFSET, at + SALT_OFFSET + FRAME_SALT_BYTES) : null;
}

/** The version in the header at a position, which all versions have in one place; null where there is no good one. */
export function readVersion({ bytes, u32 }: Views, at: number): number | null {
  if (bytes.length < at + COMMON_HEADER_BYTES) return null;
  if (bytes.toString("latin1", at, at + MAGIC.length) !== MAGIC) return null;
  const isGood = crc32(bytes.subarray(at, at + COMMON_CRC_OFFSET)) === u32[(at + COMMON_CRC_OFFSET) >> 2];
  return isGood ? u32[(at + VERSION_OFFSET) >> 2]! : null;
}

/** The number in the header at a position; null where there is no good one. */
export function readNumber(views: Views, at: number): number | null {
  if (readVersion(views, at) === null) return null;
  const number = (at + NUMBER_OFFSET) >> 2;
  return views.u32[number]! + views.u32[number + 1]! * TWO_32;
}

/** The part of a header that all versions share. */
export function writeCommonHeader(bytes: Views["bytes"], u32: Uint32Array, version: number, number: number) {
  bytes.write(MAGIC, 0, "latin1");
  u32[VERSION_OFFSET >> 2] = version;
  u32[NUMBER_OFFSET >> 2] = number % TWO_32;
  u32[(NUMBER_OFFSET >> 2) + 1] = Math.floor(number / TWO_32);
  u32[COMMON_CRC_OFFSET >> 2] = crc32(bytes.subarray(0, COMMON_CRC_OFFSET));
}
