import { crc32 } from "node:zlib";
import { assert } from "../lib/assert.ts";
import type { Views } from "./views.ts";

/*
 * One frame, 8-aligned in its segment:
 *
 *    0  u32  magic
 *    4  u32  CRC-32 of everything after it, the payload included
 *    8  u64  sequence
 *   16  u32  bytes of the payload, a multiple of 8
 *   20  u32  0
 *   24  payload
 */
export const FRAME_HEADER_BYTES = 24;

/** No text contains this: 0xF7 to 0xFA are never part of UTF-8. */
const MAGIC = 0xfaf9f8f7;
const CRC_START = 8;
const TWO_32 = 2 ** 32;
const SEQUENCE_HIGH_MAX = 2 ** 21 - 1; // The highest 32 bits of a safe integer.

/** Completes a frame whose payload lies after room for the header, in a buffer of its own. */
export function sealFrame(frame: Uint8Array<ArrayBuffer>, sequence: number): void {
  assert(frame.length % 8 === 0 && frame.byteOffset === 0, "a frame is aligned");
  const header = new Uint32Array(frame.buffer, 0, FRAME_HEADER_BYTES / 4);
  header[0] = MAGIC;
  header[2] = sequence % TWO_32;
  header[3] = Math.floor(sequence / TWO_32);
  header[4] = frame.length - FRAME_HEADER_BYTES;
  header[5] = 0;
  header[1] = crc32(frame.subarray(CRC_START));
}

/** Bytes that are no good frame, by position in the segment. */
export interface DamagedRange {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Steps through the good frames of a segment. After bytes that are none it looks at every next multiple of 8,
 * so that a flipped bit costs the frame it is in and no other.
 *
 * A frame whose sequence is not above all before it is not good either, though its CRC is. Sequences only ever
 * rise, so it is a copy or a leftover, and taking it in again could undo what came after it.
 */
export class FrameScanner {
  /** Of the frame stepped to. */
  sequence: number;
  start = 0;
  payloadStart = 0;
  payloadEnd: number;
  /** What lies between the good frames stepped to so far and, once there are no more, after the last. */
  readonly damage: DamagedRange[] = [];
  readonly #views: Views;
  /** Where the bytes that are no good frame began, or -1. */
  #damagedFrom: number;

  /** `damagedFrom` is where damage before `start` begins that goes on there, or `start`. */
  constructor(views: Views, start: number, damagedFrom: number, sequenceBefore: number) {
    this.#views = views;
    this.payloadEnd = start;
    this.sequence = sequenceBefore;
    this.#damagedFrom = damagedFrom < start ? damagedFrom : -1;
  }

  /** Steps to the next good frame; false where there is none left. */
  next(): boolean {
    const { bytes, u32 } = this.#views;
    let at = this.payloadEnd;
    while (at + FRAME_HEADER_BYTES <= bytes.length) {
      const payloadBytes = this.#goodPayloadBytes(at);
      const sequence = u32[(at >> 2) + 2]! + u32[(at >> 2) + 3]! * TWO_32;
      if (payloadBytes >= 0 && sequence > this.sequence) {
        this.#endDamage(at);
        this.start = at;
        this.payloadStart = at + FRAME_HEADER_BYTES;
        this.payloadEnd = this.payloadStart + payloadBytes;
        this.sequence = sequence;
        return true;
      }
      if (this.#damagedFrom < 0) this.#damagedFrom = at;
      at += payloadBytes >= 0 ? FRAME_HEADER_BYTES + payloadBytes : 8;
    }
    if (this.#damagedFrom < 0 && at < bytes.length) this.#damagedFrom = at;
    this.#endDamage(bytes.length);
    this.payloadEnd = bytes.length;
    return false;
  }

  /** The frame stepped to is damage after all. */
  reject(): void {
    const last = this.damage.at(-1);
    const joins = last !== undefined && last.offset + last.bytes === this.start;
    if (joins) this.damage.pop();
    this.#damagedFrom = joins ? last.offset : this.start;
  }

  #goodPayloadBytes(at: number): number {
    const { bytes, u32 } = this.#views;
    const header = at >> 2;
    if (u32[header] !== MAGIC) return -1;
    const payloadBytes = u32[header + 4]!;
    const end = at + FRAME_HEADER_BYTES + payloadBytes;
    if (payloadBytes % 8 !== 0 || end > bytes.length || u32[header + 3]! > SEQUENCE_HIGH_MAX) return -1;
    return crc32(bytes.subarray(at + CRC_START, end)) === u32[header + 1] ? payloadBytes : -1;
  }

  #endDamage(end: number): void {
    if (this.#damagedFrom >= 0) {
      this.damage.push({ offset: this.#damagedFrom, bytes: end - this.#damagedFrom });
    }
    this.#damagedFrom = -1;
  }
}
