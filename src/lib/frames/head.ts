import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { FRAME_SALT_BYTES } from "./frame.ts";
import { type Views, viewsOf } from "./views.ts";

/*
 * What a file of salted frames begins with:
 *
 *    0     header
 *   48     zeros
 *   4096   the header again
 *   4144   frames (frame.ts)
 *
 * The header:
 *
 *    0  magic, 8 ASCII characters        28  u32  CRC-32 of bytes 0 to 28
 *    8  u32  format version              32  salt of the frames, 8 bytes
 *   12  u32  0                           40  u32  0
 *   16  u64  number of the file          44  u32  CRC-32 of bytes 0 to 44
 *   24  u32  0
 *
 * Without the salt no frame can be told from what clients sent, so it stands in two blocks of the disk.
 */
const HEADER_BYTES = 48;
/** Where the header stands. */
export const HEADERS_AT = [0, 4096] as const;
/** Both headers and what lies between: frames begin behind. */
export const HEAD_BYTES = HEADERS_AT[1] + HEADER_BYTES;

const COMMON_HEADER_BYTES = 32;
const VERSION_OFFSET = 8;
const NUMBER_OFFSET = 16;
const COMMON_CRC_OFFSET = 28;
const SALT_OFFSET = 32;
const HEADER_CRC_OFFSET = 44;
const TWO_32 = 2 ** 32;

/** For each new file another, which nobody can know or guess. */
export type CreateSalt = () => Uint8Array;

export const createRandomSalt: CreateSalt = () => randomBytes(FRAME_SALT_BYTES);

/** What files of one kind begin with. */
export class HeadFormat {
  readonly #magic: string;

  constructor(magic: string) {
    this.#magic = magic;
  }

  encode(version: number, number: number, salt: Uint8Array): Uint8Array {
    const head = new Uint8Array(HEAD_BYTES);
    const views = viewsOf(head);
    this.writeCommonHeader(views, version, number);
    const { bytes, u32 } = views;
    bytes.set(salt, SALT_OFFSET);
    u32[HEADER_CRC_OFFSET >> 2] = crc32(bytes.subarray(0, HEADER_CRC_OFFSET));
    bytes.copyWithin(HEADERS_AT[1], 0, HEADER_BYTES);
    return head;
  }

  /** The first 32 bytes, which all versions share. */
  writeCommonHeader({ bytes, u32 }: Views, version: number, number: number): void {
    bytes.write(this.#magic, 0, "latin1");
    u32[VERSION_OFFSET >> 2] = version;
    u32[NUMBER_OFFSET >> 2] = number % TWO_32;
    u32[(NUMBER_OFFSET >> 2) + 1] = Math.floor(number / TWO_32);
    u32[COMMON_CRC_OFFSET >> 2] = crc32(bytes.subarray(0, COMMON_CRC_OFFSET));
  }

  /** The version in the header at a position, which all versions have in one place; null where there is no good one. */
  readVersion({ bytes, u32 }: Views, at: number): number | null {
    if (bytes.length < at + COMMON_HEADER_BYTES) return null;
    if (bytes.toString("latin1", at, at + this.#magic.length) !== this.#magic) return null;
    const isGood = crc32(bytes.subarray(at, at + COMMON_CRC_OFFSET)) === u32[(at + COMMON_CRC_OFFSET) >> 2];
    return isGood ? u32[(at + VERSION_OFFSET) >> 2]! : null;
  }

  /** The number in the header at a position; null where there is no good one. */
  readNumber(views: Views, at: number): number | null {
    if (this.readVersion(views, at) === null) return null;
    const number = (at + NUMBER_OFFSET) >> 2;
    return views.u32[number]! + views.u32[number + 1]! * TWO_32;
  }

  /** The salt in a header at a position; null where there is no good one. */
  readSalt({ bytes, u32 }: Views, at: number): Uint8Array | null {
    if (bytes.length < at + HEADER_BYTES) return null;
    const isGood = crc32(bytes.subarray(at, at + HEADER_CRC_OFFSET)) === u32[(at + HEADER_CRC_OFFSET) >> 2];
    return isGood ? bytes.subarray(at + SALT_OFFSET, at + SALT_OFFSET + FRAME_SALT_BYTES) : null;
  }
}
