import { Buffer } from "node:buffer";
import { BACKSLASH, DOT, MINUS, QUOTE, SPACE, ZERO } from "./ascii.ts";
import { afterWhite, decodeUtf8Part } from "./long-text.ts";

// Reads plain values of a JSON text from its bytes, and creates only the requested ones. Other values, such as a text
// with escapes or a number with an exponent, are left to a parser; they may be valid JSON or not.

export class JsonScan {
  readonly bytes: Buffer;
  /** The end of the value that was read last. */
  end = 0;
  /** Whether the text that `textEnd()` found last is printable ASCII. */
  isPrintable = true;
  readonly #view: DataView;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.bytes = Buffer.from(buffer, byteOffset, byteLength);
    this.#view = new DataView(buffer, byteOffset, byteLength);
  }

  /** Whether two ranges within the text have the same bytes; compares four at a time. */
  isSame(a: number, b: number, byteCount: number): boolean {
    const view = this.#view;
    const last = byteCount - 4;
    if (last < 0) return this.#isSameShort(a, b, byteCount);
    for (let i = 0; i < last; i += 4) if (view.getInt32(a + i) !== view.getInt32(b + i)) return false;
    return view.getInt32(a + last) === view.getInt32(b + last);
  }

  /** The position of the first byte that is not white space, after a limited number of blanks. */
  afterBlanks(at: number): number {
    return afterWhite(this.bytes, at, at + BLANKS_MAX);
  }

  /** Whether one of `TRUE`, `FALS` and `NULL` begins here. */
  isWord(at: number, word: number): boolean {
    return at + 4 <= this.bytes.length && this.#view.getInt32(at) === word;
  }

  /**
   * The number that begins here, as parsers read it; NaN if there is none. For a number with an exponent, or very many
   * digits, `end` is set before its end.
   */
  number(at: number): number {
    const { bytes } = this;
    const isNegative = bytes[at] === MINUS;
    const first = isNegative ? at + 1 : at;
    const limit = first + DIGITS_MAX;
    let next = first;
    let digits = 0;
    while (next < limit && isDigit(bytes[next]!)) digits = digits * 10 + (bytes[next++]! - ZERO);
    if (next === first || (bytes[first] === ZERO && next > first + 1)) return Number.NaN;
    let decimals = 0;
    if (bytes[next] === DOT) {
      const point = next++;
      while (next < limit && isDigit(bytes[next]!)) digits = digits * 10 + (bytes[next++]! - ZERO);
      decimals = next - point - 1;
      if (decimals === 0) return Number.NaN;
    }
    this.end = next;
    // Integers up to here and powers of ten up to 10^22 are exact doubles, so their quotient is rounded once.
    if (digits > Number.MAX_SAFE_INTEGER || decimals >= SCALES.length)
      return Number(bytes.toString("latin1", at, next));
    const value = decimals === 0 ? digits : digits / SCALES[decimals]!;
    return isNegative ? -value : value;
  }

  /**
   * The position of the closing quote of the text that begins at `at`; -1 for a text with escapes, or longer than
   * `bytesMax`.
   */
  textEnd(at: number, bytesMax: number): number {
    const { bytes } = this;
    const limit = at + bytesMax;
    this.isPrintable = true;
    for (let next = at; next <= limit; next++) {
      const byte = bytes[next]!;
      if (byte === QUOTE) return next;
      if (byte >= DELETE) this.isPrintable = false;
      else if (byte < SPACE || byte === BACKSLASH) return -1;
    }
    return -1;
  }

  /** The text between two quotes; null if it is not valid UTF-8. */
  text(start: number, end: number): string | null {
    return decodeUtf8Part(this.bytes.subarray(start, end));
  }

  #isSameShort(a: number, b: number, byteCount: number): boolean {
    const { bytes } = this;
    for (let i = 0; i < byteCount; i++) if (bytes[a + i] !== bytes[b + i]) return false;
    return true;
  }
}

/** The first four letters of JSON's words, as 32-bit numbers, for `isWord()`. */
export const TRUE = 0x74727565;
export const FALS = 0x66616c73;
export const NULL = 0x6e756c6c;

/** As many blanks as there are between the members of an indented text. */
const BLANKS_MAX = 64;
/** More digits than any measurement has. */
const DIGITS_MAX = 32;
const SCALES = Float64Array.from({ length: 23 }, (_, decimals) => 10 ** decimals);

const DELETE = 0x7f;

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}
