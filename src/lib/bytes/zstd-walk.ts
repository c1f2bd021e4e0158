/*
 * A zstd file is a sequence of frames (RFC 8878):
 *
 *   magic 4 | descriptor 1 | window 0-1, dictionary 0-4, size 0-8 | blocks: header 3, bytes | checksum 0 or 4
 *   magic 4 | size 4 | bytes to ignore                            ("skippable")
 */
const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const SIZE_BYTES = [0, 2, 4, 8];
const RUN_BLOCK = 1; // One byte that is repeated; its size is that of the run.

export const MAGIC_BYTES = 4;

/** The most text of a block (RFC 8878 §3.1.1.2.4). */
export const BLOCK_TEXT_BYTES_MAX = 128 * 1024;

/** The value of each byte of a little-endian number. The longest run of sizes has 14 bytes. */
const PLACES = Array.from({ length: 16 }, (_, place) => 2 ** (8 * place));

/** The meaning of the next few bytes. */
type Part = "magic" | "descriptor" | "sizes" | "block" | "checksum" | "skippable";

/** Finds the ends of frames, in bytes that come in arbitrary pieces. Throws if they are not zstd data. */
export class ZstdWalk {
  #part: Part = "magic";
  #wanted = MAGIC_BYTES;
  /** The bytes of the part so far, as a little-endian number. Sizes may exceed it, but are not used. */
  #number = 0;
  #come = 0;
  #skip = 0;
  #hasChecksum = false;
  #isLast = false;
  #isBlock = false;

  /** Whether no byte of another frame was read. */
  get isBetween(): boolean {
    return this.#part === "magic" && this.#come === 0;
  }

  /** The number of blocks with text so far. */
  blocks = 0;

  /** Reads on to the end of a block with text, of the frame, or of the piece. Returns the position there. */
  walk(piece: Uint8Array, from: number): number {
    let at = from;
    while (at < piece.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, piece.length - at);
        this.#skip -= skipped;
        at += skipped;
      } else {
        this.#number += piece[at++]! * PLACES[this.#come]!;
        if (++this.#come < this.#wanted) continue;
        const number = this.#number;
        this.#number = 0;
        this.#come = 0;
        this.#read(number);
      }
      if (this.#isLast && this.#skip === 0) {
        this.#isLast = false;
        this.#isBlock = false;
        this.#expect("magic", MAGIC_BYTES);
        return at;
      }
      if (this.#isBlock && this.#skip === 0) {
        this.#isBlock = false;
        return at;
      }
    }
    return at;
  }

  #expect(part: Part, bytes: number): void {
    this.#part = part;
    this.#wanted = bytes;
  }

  #read(number: number): void {
    switch (this.#part) {
      case "magic":
        if (number === FRAME_MAGIC) this.#expect("descriptor", 1);
        else if (isSkippableMagic(number)) this.#expect("skippable", 4);
        else throw new Error("it is not zstd data");
        return;
      case "descriptor": {
        const isSingleSegment = (number & 0x20) !== 0;
        const sizeBytes = SIZE_BYTES[number >> 6]! || (isSingleSegment ? 1 : 0);
        this.#hasChecksum = (number & 4) !== 0;
        this.#expect("sizes", (isSingleSegment ? 0 : 1) + DICTIONARY_BYTES[number & 3]! + sizeBytes);
        return;
      }
      case "sizes":
        this.#expect("block", 3);
        return;
      case "block":
        this.#skip = ((number >> 1) & 3) === RUN_BLOCK ? 1 : number >> 3;
        this.#isBlock = this.#skip > 0;
        if (this.#isBlock) this.blocks++;
        if ((number & 1) === 0) return;
        if (this.#hasChecksum) this.#expect("checksum", 4);
        else this.#isLast = true;
        return;
      case "skippable":
        this.#skip = number;
        this.#isLast = true;
        return;
      case "checksum":
        this.#isLast = true;
    }
  }
}

/** Whether the frame that begins with these bytes has no text. */
export function isSkippable(start: Uint8Array): boolean {
  let number = 0;
  for (let i = MAGIC_BYTES - 1; i >= 0; i--) number = number * 256 + start[i]!;
  return isSkippableMagic(number);
}

/** The length of the text as a complete frame declares it; null if it does not. */
export function declaredTextBytes(frame: Uint8Array): number | null {
  const descriptor = frame[MAGIC_BYTES]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = SIZE_BYTES[descriptor >> 6]! || (isSingleSegment ? 1 : 0);
  if (sizeBytes === 0) return null;
  const start = MAGIC_BYTES + 1 + (isSingleSegment ? 0 : 1) + DICTIONARY_BYTES[descriptor & 3]!;
  let number = 0;
  for (let i = sizeBytes - 1; i >= 0; i--) number = number * 256 + frame[start + i]!;
  return sizeBytes === 2 ? number + 256 : number; // Smaller sizes have one byte.
}

function isSkippableMagic(number: number): boolean {
  return number - (number % 16) === SKIPPABLE_MAGIC;
}
