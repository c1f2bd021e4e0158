import { FRAME_HEADER_BYTES, type SaltedFrames } from "./frame.ts";
import type { Views } from "./views.ts";

/** Bytes that are no good frame, by position in the segment. */
export interface DamagedRange {
  readonly offset: number;
  readonly bytes: number;
  /** Set for whole frames that the reader can't use; a write that was cut short leaves none. */
  readonly isWritten?: true;
}

export interface ScanRange {
  /** Of the first frame. */
  readonly start: number;
  /** Where damage before `start` begins that goes on there, or `start`. */
  readonly damagedFrom: number;
  /** Good frames have greater sequences than this, and lesser than `sequenceEnd`. */
  readonly sequenceBefore: number;
  readonly sequenceEnd: number;
}

/**
 * Steps through the good frames of a segment, so that a flipped bit costs the frame it is in and no other.
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
  readonly #frames: SaltedFrames | null;
  readonly #sequenceEnd: number;
  /** Where the bytes that are no good frame began, or -1. */
  #damagedFrom: number;

  /** Without `frames`, whose salt the segment has lost, every byte is damage. */
  constructor(views: Views, frames: SaltedFrames | null, { start, damagedFrom, ...sequences }: ScanRange) {
    this.#views = views;
    this.#frames = frames;
    this.payloadEnd = start;
    this.sequence = sequences.sequenceBefore;
    this.#sequenceEnd = sequences.sequenceEnd;
    this.#damagedFrom = damagedFrom < start ? damagedFrom : -1;
  }

  /** Steps to the next good frame; false where there is none left. */
  next(): boolean {
    const views = this.#views;
    const frames = this.#frames;
    const { length } = views.bytes;
    let at = this.payloadEnd;
    while (frames !== null && at + FRAME_HEADER_BYTES <= length) {
      const payloadBytes = frames.payloadBytes(views, at);
      const isGood = payloadBytes >= 0;
      const frameBytes = isGood ? FRAME_HEADER_BYTES + payloadBytes : 8; // A frame may begin at any multiple of 8.
      if (isGood) {
        const sequence = frames.sequence(views, at);
        if (sequence > this.sequence && sequence < this.#sequenceEnd) {
          this.#endDamage(at);
          this.start = at;
          this.payloadStart = at + FRAME_HEADER_BYTES;
          this.payloadEnd = at + frameBytes;
          this.sequence = sequence;
          return true;
        }
      }
      if (this.#damagedFrom < 0) this.#damagedFrom = at;
      at += frameBytes;
    }
    if (this.#damagedFrom < 0 && at < length) this.#damagedFrom = at;
    this.#endDamage(length);
    this.payloadEnd = length;
    return false;
  }

  /** The frame stepped to is damage after all. */
  reject(): void {
    const last = this.damage.at(-1);
    const joins = last?.isWritten === true && last.offset + last.bytes === this.start;
    if (joins) this.damage.pop();
    const offset = joins ? last.offset : this.start;
    this.damage.push({ offset, bytes: this.payloadEnd - offset, isWritten: true });
  }

  #endDamage(end: number): void {
    if (this.#damagedFrom >= 0) {
      this.damage.push({ offset: this.#damagedFrom, bytes: end - this.#damagedFrom });
    }
    this.#damagedFrom = -1;
  }
}
