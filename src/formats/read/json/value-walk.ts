import { Buffer } from "node:buffer";
import { BACKSLASH, QUOTE } from "../../../lib/text/ascii.ts";
import { parseJson } from "../../../lib/text/long-json.ts";
import { FormatError } from "../format.ts";

/** The maximum nesting; positions need a handful. */
export const DEPTH_MAX = 64;

/** The maximum size of a text in the file. A longer one, such as a photo, counts as empty. */
const TEXT_BYTES_MAX = 1024 * 1024;

/** A chunk of a file, with its offset. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly offset: number;
}

/** A value; undefined if it has a fault. */
export interface ParsedValue {
  readonly value: unknown;
  readonly fault: "unreadable" | "too_large" | null;
}

export const UNREADABLE: ParsedValue = { value: undefined, fault: "unreadable" };
const TOO_LARGE: ParsedValue = { value: undefined, fault: "too_large" };

/** The meaning of a byte outside texts; all others have none. */
const OPENS = 1;
const CLOSES = 2;
const QUOTES = 3;

const MEANINGS = new Uint8Array(256);
for (const [characters, meaning] of [
  ["{[", OPENS],
  ["}]", CLOSES],
  ['"', QUOTES],
] as const)
  for (const character of characters) MEANINGS[character.charCodeAt(0)] = meaning;

/** Bytes that end a number or word. */
const SCALAR_ENDS = new Uint8Array(256);
for (const character of ' \t\r\n,:"{}[]') SCALAR_ENDS[character.charCodeAt(0)] = 1;

/** Scans one JSON value, which may span several chunks, by its brackets and quotes. The parser validates the rest. */
export class ValueWalk {
  readonly #bytes = new ValueBytes();
  /** Deeper values count as empty. */
  readonly #depthMax: number;
  /** The closing bracket of each depth from 1. */
  readonly #closers = new Uint8Array(DEPTH_MAX + 1);
  #depth = 0;
  #isScalar = false;
  #isInText = false;
  #isEscaped = false;
  /** The number of bytes collected up to the text's quotation mark. */
  #textStart = 0;
  /** Whether the text has exceeded its maximum. */
  #isLongText = false;
  #isTooDeep = false;
  /** The number of bytes collected before the content of a value that counts as empty; -1 outside such values. */
  #emptyStart = -1;

  constructor(depthMax: number = DEPTH_MAX) {
    this.#depthMax = depthMax;
  }

  /** Starts a value with the byte at `at`. `isKept` collects its bytes. */
  begin({ bytes }: Chunk, at: number, isKept: boolean): void {
    this.#bytes.begin(at, isKept);
    this.#depth = 0;
    this.#emptyStart = -1;
    this.#isInText = false;
    this.#isEscaped = false;
    this.#isScalar = MEANINGS[bytes[at]!]! === 0;
    this.#isTooDeep = false;
  }

  /** Returns the index after the value; -1 if it continues in the next chunk. */
  walk(chunk: Chunk, from: number): number {
    const { bytes } = chunk;
    const end = bytes.length;
    let at = from;
    if (this.#isScalar) {
      while (at < end && SCALAR_ENDS[bytes[at]!] === 0) at++;
      if (at < end) return at;
    }
    while (at < end) {
      at = this.#isInText ? this.#walkText(bytes, at) : this.#walkBrackets(chunk, at);
      if (this.#depth === 0 && !this.#isInText) return at;
    }
    if (this.#emptyStart >= 0) this.#bytes.drop(bytes, this.#emptyStart, end);
    else if (this.#isInText) this.#dropLongText(bytes, end);
    this.#bytes.suspend(bytes);
    return -1;
  }

  /** Parses the scanned value, which ends at `end`. */
  parse({ bytes }: Chunk, end: number): ParsedValue {
    const valueBytes = this.#bytes.upTo(bytes, end);
    if (valueBytes === null) return TOO_LARGE;
    const value = this.#isTooDeep ? undefined : parseJson(valueBytes.toString());
    return value === undefined ? UNREADABLE : { value, fault: null };
  }

  /** Scans to the start of a text, or the end of the value or chunk. */
  #walkBrackets(chunk: Chunk, from: number): number {
    const { bytes } = chunk;
    const end = bytes.length;
    let depth = this.#depth;
    let at = from;
    while (at < end) {
      const byte = bytes[at++]!;
      const meaning = MEANINGS[byte]!;
      if (meaning === 0) continue;
      if (meaning === QUOTES) {
        this.#beginText(at);
        break;
      }
      if (meaning === OPENS) {
        if (++depth === this.#depthMax + 1) this.#emptyStart = this.#bytes.lengthAt(at);
        if (depth > DEPTH_MAX) this.#isTooDeep = true;
        else this.#closers[depth] = byte + 2; // In ASCII, both closing brackets are two after the opening ones.
      } else {
        depth = this.#depthOf(byte, depth);
        if (depth === 0) throw unbalanced(chunk.offset + at - 1);
        if (--depth <= this.#depthMax) this.#endEmpty(bytes, at - 1);
        if (depth === 0) break;
      }
    }
    this.#depth = depth;
    return at;
  }

  /** The depth that a bracket closes; unclosed values inside it are closed with it. */
  #depthOf(closer: number, depth: number): number {
    let closed = depth;
    while (closed > 0 && closed <= DEPTH_MAX && this.#closers[closed] !== closer) closed--;
    return closed;
  }

  /** Drops the content of a value that is too deep. */
  #endEmpty(bytes: Buffer, at: number): void {
    if (this.#emptyStart < 0) return;
    this.#bytes.drop(bytes, this.#emptyStart, at);
    this.#emptyStart = -1;
  }

  #beginText(at: number): void {
    this.#isInText = true;
    this.#isLongText = false;
    this.#textStart = this.#bytes.lengthAt(at);
  }

  #walkText(bytes: Buffer, from: number): number {
    const end = bytes.length;
    let at = this.#isEscaped ? from + 1 : from;
    while (at < end) {
      const byte = bytes[at++]!;
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) {
        this.#isEscaped = false;
        this.#isInText = false;
        this.#dropLongText(bytes, at - 1);
        return at;
      }
    }
    this.#isEscaped = at > end;
    return end;
  }

  /** Drops a text that is too long, since the rest of the value may have the position. */
  #dropLongText(bytes: Buffer, at: number): void {
    if (this.#bytes.lengthAt(at) - this.#textStart > TEXT_BYTES_MAX) this.#isLongText = true;
    if (this.#isLongText) this.#bytes.drop(bytes, this.#textStart, at);
  }
}

function unbalanced(offset: number): FormatError {
  return new FormatError(`a bracket closes nothing at byte ${offset.toLocaleString("en-US")}`);
}

/** The maximum size of a value without its long texts. A LineString of 16 MiB has some 300,000 points. */
const VALUE_BYTES_MAX = 16 * 1024 * 1024;

const CAPACITY_MIN = 64 * 1024;

/** Collects the bytes of one value: those of earlier chunks in a buffer, those of the current chunk in place. */
export class ValueBytes {
  #carried = Buffer.allocUnsafe(0);
  #carriedBytes = 0;
  /** The start of the collected bytes in the current chunk. */
  #from = 0;
  #isKept = true;
  isTooLarge = false;

  begin(at: number, isKept: boolean): void {
    this.#carriedBytes = 0;
    this.#from = at;
    this.#isKept = isKept;
    this.isTooLarge = false;
  }

  /** The number of bytes collected up to `at`. */
  lengthAt(at: number): number {
    return this.#carriedBytes + at - this.#from;
  }

  /** The chunk ends before the value does. */
  suspend(chunk: Buffer): void {
    this.#carry(chunk, chunk.length);
    this.#from = 0;
  }

  /** Truncates the collected bytes to `lengthBytes` and continues at `at`. */
  drop(chunk: Buffer, lengthBytes: number, at: number): void {
    if (lengthBytes < this.#carriedBytes) this.#carriedBytes = lengthBytes;
    else this.#carry(chunk, this.#from + lengthBytes - this.#carriedBytes);
    this.#from = at;
  }

  /** The bytes of the value that ends at `end`, valid until the next one; null if it is too large. */
  upTo(chunk: Buffer, end: number): Buffer | null {
    if (this.#carriedBytes === 0 && end - this.#from <= VALUE_BYTES_MAX && !this.isTooLarge)
      return chunk.subarray(this.#from, end);
    this.#carry(chunk, end);
    return this.isTooLarge ? null : this.#carried.subarray(0, this.#carriedBytes);
  }

  #carry(chunk: Buffer, end: number): void {
    const length = this.lengthAt(end);
    if (length > VALUE_BYTES_MAX) this.isTooLarge = true;
    if (!this.#isKept || this.isTooLarge) {
      // Lengths are still counted: positions of texts depend on them.
      this.#carriedBytes = length;
      return;
    }
    if (length > this.#carried.length) this.#grow(length);
    chunk.copy(this.#carried, this.#carriedBytes, this.#from, end);
    this.#carriedBytes = length;
  }

  #grow(bytes: number): void {
    const capacity = Math.max(CAPACITY_MIN, 2 ** Math.ceil(Math.log2(bytes)));
    const grown = Buffer.allocUnsafe(capacity);
    this.#carried.copy(grown, 0, 0, this.#carriedBytes);
    this.#carried = grown;
  }
}
