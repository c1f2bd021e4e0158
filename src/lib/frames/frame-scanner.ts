import { FRAME_HEADER_BYTES, type SaltedFrames } from "./frame.ts";
import type { Views } from "./views.ts";

/** Bytes of a segment that are not part of a good frame. */
export interface DamagedRange {
  readonly offset: number;
  readonly bytes: number;
  /** Set for complete frames with invalid content; a write that was interrupted leaves none. */
  readonly isWritten?: true;
}

export interface ScanRange {
  /** The position of the first frame. */
  readonly start: number;
  /** Where damage begins that extends up to `start`; equal to `start` if there is none. */
  readonly damagedFrom: number;
  /** The sequences of good frames are greater than this, and less than `sequenceEnd`. */
  readonly sequenceBefore: number;
  readonly sequenceEnd: number;
}

/**
 * Steps through the good frames of a segment, so that a flipped bit costs only the frame it is in.
 * A frame whose sequence is not greater than all before it counts as damage, even if its CRC is valid. Sequences only
 * increase, so it is a copy or a leftover, and applying it again could undo what came after it.
 */
export class FrameScanner {
  /** The sequence of the current frame. */
  sequence: number;
  start = 0;
  payloadStart = 0;
  payloadEnd: number;
  /** The damage before the current frame; complete once `next()` has returned false. */
  readonly damage: DamagedRange[] = [];
  readonly #views: Views;
  readonly #frames: SaltedFrames | null;
  readonly #sequenceEnd: number;
  /** Where the current run of damage began, or -1. */
  #damagedFrom: number;

  /** If the salt is lost, `frames` is null and every byte counts as damage. */
  constructor(views: Views, frames: SaltedFrames | null, { start, damagedFrom, ...sequences }: ScanRange) {
    this.#views = views;
    this.#frames = frames;
    this.payloadEnd = start;
    this.sequence = sequences.sequenceBefore;
    this.#sequenceEnd = sequences.sequenceEnd;
    this.#damagedFrom = damagedFrom < start ? damagedFrom : -1;
  }

  /** Steps to the next good frame; false if there is none. */
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

  /** Counts the current frame as damage. */
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
