import { Buffer } from "node:buffer";
import { BACKSLASH, QUOTE } from "../../../lib/text/ascii.ts";
import { parseJson } from "../../../lib/text/long-json.ts";
import { FormatError } from "../format.ts";

/** Values within values; who writes positions needs a handful. */
export const DEPTH_MAX = 64;

/** Of one text, as it stands in the file. A longer one, as of a photo, is taken for an empty one. */
const TEXT_BYTES_MAX = 1024 * 1024;

/** A piece of a file, and where it lies in it. */
export interface Piece {
  readonly bytes: Buffer;
  readonly offset: number;
}

/** A value, undefined where something is wrong with it. */
export interface ParsedValue {
  readonly value: unknown;
  readonly fault: "unreadable" | "too_large" | null;
}

export const UNREADABLE: ParsedValue = { value: undefined, fault: "unreadable" };
const TOO_LARGE: ParsedValue = { value: undefined, fault: "too_large" };

/** What a byte means outside texts; all others mean nothing. */
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

/** Bytes that a number or a word ends before. */
const SCALAR_ENDS = new Uint8Array(256);
for (const character of ' \t\r\n,:"{}[]') SCALAR_ENDS[character.charCodeAt(0)] = 1;

/**
 * Walks over one JSON value, which may lie in several pieces, and keeps its bytes. Only brackets and quotation marks
 * are looked at: whether it is JSON, a parser tells.
 */
export class ValueWalk {
  readonly #kept = new KeptBytes();
  /** What lies deeper is taken for empty. */
  readonly #keptDepth: number;
  /** By depth from 1, what closes it. */
  readonly #closers = new Uint8Array(DEPTH_MAX + 1);
  #depth = 0;
  #isScalar = false;
  #isInText = false;
  #isEscaped = false;
  /** How much was kept before the text began, its quotation mark included. */
  #textStart = 0;
  /** Whether the text has been longer than is kept. */
  #isLongText = false;
  #isTooDeep = false;
  /** How much was kept before the inside of the value that is taken for empty; -1 outside such values. */
  #emptyStart = -1;

  constructor(keptDepth: number = DEPTH_MAX) {
    this.#keptDepth = keptDepth;
  }

  /** A value begins here, one byte of it at least; what was walked over before is forgotten. */
  begin({ bytes }: Piece, at: number, isKept: boolean): void {
    this.#kept.begin(at, isKept);
    this.#depth = 0;
    this.#emptyStart = -1;
    this.#isInText = false;
    this.#isEscaped = false;
    this.#isScalar = MEANINGS[bytes[at]!]! === 0;
    this.#isTooDeep = false;
  }

  /** The index behind the value; -1 where it goes on behind the piece. */
  walk(piece: Piece, from: number): number {
    const { bytes } = piece;
    const end = bytes.length;
    let at = from;
    if (this.#isScalar) {
      while (at < end && SCALAR_ENDS[bytes[at]!] === 0) at++;
      if (at < end) return at;
    }
    while (at < end) {
      at = this.#isInText ? this.#walkText(bytes, at) : this.#walkBrackets(piece, at);
      if (this.#depth === 0 && !this.#isInText) return at;
    }
    if (this.#emptyStart >= 0) this.#kept.drop(bytes, this.#emptyStart, end);
    else if (this.#isInText) this.#dropLongText(bytes, end);
    this.#kept.suspend(bytes);
    return -1;
  }

  /** The value that was walked over and ends here, as a parser makes it. */
  parse({ bytes }: Piece, end: number): ParsedValue {
    const kept = this.#kept.bytes(bytes, end);
    if (kept === null) return TOO_LARGE;
    const value = this.#isTooDeep ? undefined : parseJson(kept.toString());
    return value === undefined ? UNREADABLE : { value, fault: null };
  }

  /** Walks to where a text begins, or the value or the piece ends. */
  #walkBrackets(piece: Piece, from: number): number {
    const { bytes } = piece;
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
        if (++depth === this.#keptDepth + 1) this.#emptyStart = this.#kept.lengthAt(at);
        if (depth > DEPTH_MAX) this.#isTooDeep = true;
        else this.#closers[depth] = byte + 2; // In ASCII, both brackets close two behind where they open.
      } else {
        depth = this.#depthOf(byte, depth);
        if (depth === 0) throw unbalanced(piece.offset + at - 1);
        if (--depth <= this.#keptDepth) this.#endEmpty(bytes, at - 1);
        if (depth === 0) break;
      }
    }
    this.#depth = depth;
    return at;
  }

  /** What a bracket closes, and with it all that was opened in there and left open. */
  #depthOf(closer: number, depth: number): number {
    let closed = depth;
    while (closed > 0 && closed <= DEPTH_MAX && this.#closers[closed] !== closer) closed--;
    return closed;
  }

  /** Keeps nothing of what lies too deep to be wanted. */
  #endEmpty(bytes: Buffer, at: number): void {
    if (this.#emptyStart < 0) return;
    this.#kept.drop(bytes, this.#emptyStart, at);
    this.#emptyStart = -1;
  }

  #beginText(at: number): void {
    this.#isInText = true;
    this.#isLongText = false;
    this.#textStart = this.#kept.lengthAt(at);
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

  /** Keeps nothing of a text that has become too long: what follows it may say where the device was. */
  #dropLongText(bytes: Buffer, at: number): void {
    if (this.#kept.lengthAt(at) - this.#textStart > TEXT_BYTES_MAX) this.#isLongText = true;
    if (this.#isLongText) this.#kept.drop(bytes, this.#textStart, at);
  }
}

function unbalanced(offset: number): FormatError {
  return new FormatError(`a bracket closes nothing at byte ${offset.toLocaleString("en-US")}`);
}

/** Of one value without its long texts. A LineString of 16 MiB has some 300,000 points. */
const VALUE_BYTES_MAX = 16 * 1024 * 1024;

const CAPACITY_MIN = 64 * 1024;

/** The bytes of one value: those of earlier pieces in a buffer, those of the piece at hand where they lie. */
export class KeptBytes {
  #carried = Buffer.allocUnsafe(0);
  #carriedBytes = 0;
  /** From where on the piece at hand is kept. */
  #from = 0;
  #isKept = true;
  isTooLarge = false;

  begin(at: number, isKept: boolean): void {
    this.#carriedBytes = 0;
    this.#from = at;
    this.#isKept = isKept;
    this.isTooLarge = false;
  }

  /** How much is kept up to here. */
  lengthAt(at: number): number {
    return this.#carriedBytes + at - this.#from;
  }

  /** The piece ends before the value does. */
  suspend(piece: Buffer): void {
    this.#carry(piece, piece.length);
    this.#from = 0;
  }

  /** Forgets what was kept behind so many bytes, and goes on here. */
  drop(piece: Buffer, keptBytes: number, at: number): void {
    if (keptBytes < this.#carriedBytes) this.#carriedBytes = keptBytes;
    else this.#carry(piece, this.#from + keptBytes - this.#carriedBytes);
    this.#from = at;
  }

  /** The value that ends here; null where it is more than is kept. Good until more is kept. */
  bytes(piece: Buffer, end: number): Buffer | null {
    if (this.#carriedBytes === 0 && end - this.#from <= VALUE_BYTES_MAX && !this.isTooLarge)
      return piece.subarray(this.#from, end);
    this.#carry(piece, end);
    return this.isTooLarge ? null : this.#carried.subarray(0, this.#carriedBytes);
  }

  #carry(piece: Buffer, end: number): void {
    const length = this.lengthAt(end);
    if (length > VALUE_BYTES_MAX) this.isTooLarge = true;
    if (!this.#isKept || this.isTooLarge) {
      // Lengths are still wanted: where a text began is told by them.
      this.#carriedBytes = length;
      return;
    }
    if (length > this.#carried.length) this.#grow(length);
    piece.copy(this.#carried, this.#carriedBytes, this.#from, end);
    this.#carriedBytes = length;
  }

  #grow(bytes: number): void {
    const capacity = Math.max(CAPACITY_MIN, 2 ** Math.ceil(Math.log2(bytes)));
    const grown = Buffer.allocUnsafe(capacity);
    this.#carried.copy(grown, 0, 0, this.#carriedBytes);
    this.#carried = grown;
  }
}
