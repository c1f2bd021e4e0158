import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { FormatVersionError } from "../text/versioned-json.ts";
import { createSaltedFrames, FRAME_SALT_BYTES } from "./frame.ts";
import { FrameScanner, type ScanRange } from "./frame-scanner.ts";
import { type Views, viewsOf } from "./views.ts";

/*
 * The head of a file of salted frames:
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
 * Without the salt, frames can't be told from what clients sent, so the header is stored twice, in two blocks of the
 * disk. All versions share the first 32 bytes, so that a file of another version can be told from a damaged one.
 */
const HEADER_BYTES = 48;
/** The positions of the two headers. */
export const HEADERS_AT = [0, 4096] as const;
/** The size of the head; frames follow. */
export const HEAD_BYTES = HEADERS_AT[1] + HEADER_BYTES;

const VERSION_OFFSET = 8;
const NUMBER_OFFSET = 16;
const COMMON_CRC_OFFSET = 28;
const SALT_OFFSET = 32;
const HEADER_CRC_OFFSET = 44;
const TWO_32 = 2 ** 32;

/** Creates a salt for a new file. It must be unknown to clients and impossible to guess. */
export type CreateSalt = () => Uint8Array;

export const createRandomSalt: CreateSalt = () => randomBytes(FRAME_SALT_BYTES);

/** The frames of a file, and the state of its head. */
export interface OpenedFrames {
  /** Positioned before the first frame. A damaged head counts as damage. */
  readonly scanner: FrameScanner;
  /** Null if both headers are damaged: frames can then not be told from what clients sent. */
  readonly salt: Uint8Array | null;
  /** Whether all bytes of the head are as they were written. */
  readonly goodHead: boolean;
}

/** The head of one kind of file, in one version. */
export class HeadFormat {
  readonly #magic: string;
  readonly #version: number;
  readonly #kind: string;

  /** `kind` names the file in errors, such as `log segment`. */
  constructor(magic: string, version: number, kind: string) {
    this.#magic = magic;
    this.#version = version;
    this.#kind = kind;
  }

  encode(number: number, salt: Uint8Array): Uint8Array {
    const head = new Uint8Array(HEAD_BYTES);
    const { bytes, u32 } = viewsOf(head);
    bytes.write(this.#magic, 0, "latin1");
    u32[VERSION_OFFSET >> 2] = this.#version;
    u32[NUMBER_OFFSET >> 2] = number % TWO_32;
    u32[(NUMBER_OFFSET >> 2) + 1] = Math.floor(number / TWO_32);
    u32[COMMON_CRC_OFFSET >> 2] = crc32(bytes.subarray(0, COMMON_CRC_OFFSET));
    bytes.set(salt, SALT_OFFSET);
    u32[HEADER_CRC_OFFSET >> 2] = crc32(bytes.subarray(0, HEADER_CRC_OFFSET));
    bytes.copyWithin(HEADERS_AT[1], 0, HEADER_BYTES);
    return head;
  }

  /** Opens the frames of the file with this number. Throws a `FormatVersionError`. */
  open(
    views: Views,
    number: number,
    path: string,
    sequences: Pick<ScanRange, "sequenceBefore" | "sequenceEnd">,
  ): OpenedFrames {
    const salts = HEADERS_AT.map((at) => this.#readSalt(views, at, path));
    const salt = salts.find((copy) => copy !== null) ?? null;
    const { bytes } = views;
    const goodHead = salt !== null && bytes.subarray(0, HEAD_BYTES).equals(this.encode(number, salt));
    const start = Math.min(HEAD_BYTES, bytes.length);
    const range = { start, damagedFrom: goodHead ? start : 0, ...sequences };
    const frames = salt === null ? null : createSaltedFrames(salt);
    return { scanner: new FrameScanner(views, frames, range), salt, goodHead };
  }

  /** The salt in the header at a position; null if the header is damaged. */
  #readSalt(views: Views, at: number, path: string): Uint8Array | null {
    const { bytes, u32 } = views;
    const isGood = (crcOffset: number) =>
      bytes.length >= at + crcOffset + 4 &&
      crc32(bytes.subarray(at, at + crcOffset)) === u32[(at + crcOffset) >> 2];
    if (!isGood(COMMON_CRC_OFFSET)) return null;
    if (bytes.toString("latin1", at, at + this.#magic.length) !== this.#magic) return null;
    const version = u32[(at + VERSION_OFFSET) >> 2]!;
    if (version !== this.#version) throw FormatVersionError.of(this.#kind, path, this.#version, version);
    if (!isGood(HEADER_CRC_OFFSET)) return null;
    return Uint8Array.from(bytes.subarray(at + SALT_OFFSET, at + SALT_OFFSET + FRAME_SALT_BYTES));
  }
}
