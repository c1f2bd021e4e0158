import { BACKSLASH, QUOTE } from "./ascii.ts";

/** A text that is encoded once and written often: its bytes in whole 8-byte words, and how many of them count. */
export interface Fragment {
  readonly words: Float64Array;
  readonly bytes: number;
}

const WORD_BYTES = 8;

/**
 * UTF-8 never contains the byte 0xFF, and JSON text has 0x7F only in strings, where it is escaped here; so no word is a
 * NaN, whose bits an engine may change.
 */
export function createFragment(json: string): Fragment {
  const text = encoder.encode(json.replaceAll("\u007f", "\\u007f"));
  const padded = new Uint8Array(Math.ceil(text.length / WORD_BYTES) * WORD_BYTES);
  padded.set(text);
  return { words: new Float64Array(padded.buffer), bytes: text.length };
}

/**
 * Writes JSON as UTF-8 into one growing buffer. Numbers and fragments are written without intermediate strings:
 * encoding is the main cost of a page of records. Hot code calls `ensure()` once, writes to `bytes` and `view` from
 * `length` on, and then sets `length`.
 */
export class JsonWriter {
  bytes: Uint8Array<ArrayBuffer>;
  view: DataView;
  /** Bytes written so far. */
  length = 0;
  #end: number;

  /** Writes to the first `bytesExpected` bytes of `memory`, and if they don't suffice, to memory of its own. */
  constructor(bytesExpected: number, memory: Uint8Array<ArrayBuffer> = new Uint8Array(bytesExpected)) {
    this.bytes = memory;
    this.view = new DataView(memory.buffer, memory.byteOffset, memory.length);
    this.#end = bytesExpected;
  }

  /** Starts over with the same buffer. */
  clear(): void {
    this.length = 0;
  }

  /** A view of everything written; valid until the next write. */
  written(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  /** Makes room for `count` more bytes. Replaces `bytes` and `view` if they are too small. */
  ensure(count: number): void {
    if (this.length + count <= this.#end) return;
    const wider = new Uint8Array(Math.max(this.#end * 2, this.length + count));
    wider.set(this.bytes.subarray(0, this.length));
    this.bytes = wider;
    this.view = new DataView(wider.buffer);
    this.#end = wider.length;
  }

  byte(byte: number): void {
    this.ensure(1);
    this.bytes[this.length++] = byte;
  }

  /** Any JSON text; for text that is written once per answer. */
  text(json: string): void {
    this.ensure(json.length * 3); // No UTF-16 unit takes more than three bytes.
    const { bytes } = this;
    if (json.length <= TEXT_LOOP_MAX) {
      let at = this.length;
      let i = 0;
      for (; i < json.length; i++) {
        const unit = json.charCodeAt(i);
        if (unit > 0x7f) break;
        bytes[at++] = unit;
      }
      if (i === json.length) {
        this.length = at;
        return;
      }
    }
    this.length += encoder.encodeInto(json, bytes.subarray(this.length)).written;
  }

  fragment(fragment: Fragment): void {
    this.ensure(fragmentRoom(fragment));
    this.length = writeFragment(this.view, this.length, fragment);
  }

  /** Any value, like `JSON.stringify()`. */
  value(value: unknown): void {
    this.text(JSON.stringify(value));
  }

  /**
   * A text, like `JSON.stringify()`. Most texts are short and plain, and are written without an intermediate string.
   */
  string(text: string): void {
    this.ensure(TEXT_LOOP_MAX + 2);
    const end = writePlainString(this.bytes, this.length, text);
    if (end === null) this.value(text);
    else this.length = end;
  }

  /** A finite number, like `JSON.stringify()`. */
  number(value: number): void {
    this.ensure(NUMBER_BYTES_MAX);
    this.length = writeNumber(this.view, this.length, value);
  }
}

const encoder = new TextEncoder();

/** Plain texts up to this length are written by a loop, which costs less than a call of the encoder. */
const TEXT_LOOP_MAX = 64;

/** Returns the position after the text; null if it is long, or has anything but printable ASCII without escapes. */
function writePlainString(bytes: Uint8Array, position: number, text: string): number | null {
  if (text.length > TEXT_LOOP_MAX) return null;
  let at = position;
  bytes[at++] = QUOTE;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return null;
    bytes[at++] = unit;
  }
  bytes[at++] = QUOTE;
  return at;
}

/** Fragments are words of this machine. Both runtimes support little-endian machines only. */
const LITTLE_ENDIAN = true;

/** Bytes to ensure before `writeFragment()`, whose last word may extend past the fragment. */
export function fragmentRoom({ words }: Fragment): number {
  return words.length * WORD_BYTES;
}

/**
 * Writes a fragment eight bytes at a time: a call of `set` or `copyWithin` would cost more than the whole fragment. The
 * next text overwrites what the last word writes past its end. Returns the position after the fragment.
 */
export function writeFragment(view: DataView, position: number, { words, bytes }: Fragment): number {
  for (let i = 0, at = position; i < words.length; i++, at += WORD_BYTES) {
    view.setFloat64(at, words[i]!, LITTLE_ENDIAN);
  }
  return position + bytes;
}

/** The longest is `-2.2250738585072014e-308`. */
export const NUMBER_BYTES_MAX = 32;

/** Doubles distinguish all decimals of 15 digits, so a decimal this short that reads back is the shortest. */
const DIGITS_15 = 1e15;

/** Smaller numbers are written with an exponent, as in JavaScript. */
const EXPONENT_BELOW = 1e-6;

/** Integer parts below this are 32-bit numbers, whose arithmetic is cheaper. */
const SMALL_BELOW = 1e9;

/** `0000` to `9999`, four bytes each: one lookup and one store replace four divisions. */
const QUADS = new Uint8Array(40_000);
for (let quad = 0; quad < 10_000; quad++) {
  for (let digit = 3, rest = quad; digit >= 0; digit--, rest = Math.floor(rest / 10)) {
    QUADS[quad * 4 + digit] = 48 + (rest % 10);
  }
}

const QUADS_U32 = new Uint32Array(QUADS.buffer);
/** The last two digits of a quad, as one number. */
const PAIRS_U16 = new Uint16Array(QUADS.buffer).filter((_, half) => half % 2 === 1).slice(0, 100);

/**
 * The text of every hundredth up to 400, as a word and a length: nearly all accuracies, speeds, bearings and charges
 * are among them, and copying a word costs a quarter of writing digits.
 */
const HUNDREDTHS = 40_001;
const HUNDREDTH_WORDS = new Float64Array(HUNDREDTHS);
const HUNDREDTH_BYTES = new Uint8Array(HUNDREDTHS);
const hundredthText = new DataView(HUNDREDTH_WORDS.buffer);
for (let hundredths = 0; hundredths < HUNDREDTHS; hundredths++) {
  const start = hundredths * WORD_BYTES;
  HUNDREDTH_BYTES[hundredths] = writeNumber(hundredthText, start, hundredths / 100) - start;
}

/** Like `writeNumber()`, for numbers that are likely to have few digits. */
export function writeReading(view: DataView, position: number, value: number): number {
  const hundredths = (value * 100 + 0.5) | 0;
  if (hundredths >= 0 && hundredths < HUNDREDTHS && hundredths / 100 === value) {
    view.setFloat64(position, HUNDREDTH_WORDS[hundredths]!, LITTLE_ENDIAN);
    return position + HUNDREDTH_BYTES[hundredths]!;
  }
  return writeNumber(view, position, value);
}

/** Writes the shortest decimal that reads back as `value`. Returns the position after it. */
export function writeNumber(view: DataView, position: number, value: number): number {
  let at = position;
  let size = value;
  if (value < 0) {
    view.setUint8(at++, 0x2d);
    size = -value;
  }
  if (size < SMALL_BELOW) {
    const whole = size | 0;
    if (whole === size) return writeSmall(view, at, whole);
    if (size >= EXPONENT_BELOW) {
      // Most values have few decimals: an integer number of millionths, or of billionths, is exact.
      const millionths = Math.floor(size * 1e6 + 0.5);
      if (millionths / 1e6 === size && millionths < DIGITS_15) {
        return writeMillionths(view, writeSmall(view, at, whole), (millionths - whole * 1e6) | 0);
      }
      const billionths = Math.floor(size * 1e9 + 0.5);
      if (billionths / 1e9 === size && billionths < DIGITS_15) {
        return writeBillionths(view, writeSmall(view, at, whole), (billionths - whole * 1e9) | 0);
      }
    }
  } else if (size < DIGITS_15 && Math.floor(size) === size) {
    return writeInteger(view, at, size);
  }
  const text = String(value);
  for (let i = 0; i < text.length; i++) view.setUint8(position + i, text.charCodeAt(i));
  return position + text.length;
}

/** Writes an integer from 0 to below 1e15. Returns the position after it. */
export function writeInteger(view: DataView, position: number, value: number): number {
  if (value < SMALL_BELOW) return writeSmall(view, position, value | 0);
  const head = Math.floor(value / 1e8); // Below 1e7.
  const rest = (value - head * 1e8) | 0;
  const high = (rest / 1e4) | 0;
  const at = writeSmall(view, position, head | 0);
  writeFourDigits(view, at, high);
  writeFourDigits(view, at + 4, rest - high * 10_000);
  return at + 8;
}

/** Writes an integer from 0 to 9999 in four digits. */
export function writeFourDigits(view: DataView, position: number, value: number): void {
  view.setUint32(position, QUADS_U32[value]!, LITTLE_ENDIAN);
}

/** Writes an integer from 0 to below 1e9. */
function writeSmall(view: DataView, position: number, value: number): number {
  if (value < 10_000) return writeHead(view, position, value);
  const head = (value / 1e4) | 0;
  const at = writeSmall(view, position, head);
  writeFourDigits(view, at, value - head * 10_000);
  return at + 4;
}

/** Writes a dot and up to six digits without trailing zeros. The fraction must not be 0. */
function writeMillionths(view: DataView, position: number, fraction: number): number {
  view.setUint8(position, 0x2e);
  const high = (fraction / 100) | 0;
  const low = fraction - high * 100;
  writeFourDigits(view, position + 1, high);
  if (low === 0) return trimZeros(view, position + 5);
  view.setUint16(position + 5, PAIRS_U16[low]!, LITTLE_ENDIAN);
  return trimZeros(view, position + 7);
}

/** Writes a dot and up to nine digits without trailing zeros. */
function writeBillionths(view: DataView, position: number, fraction: number): number {
  view.setUint8(position, 0x2e);
  const upper = (fraction / 1e5) | 0;
  const lower = fraction - upper * 100_000;
  const middle = (lower / 10) | 0;
  writeFourDigits(view, position + 1, upper);
  writeFourDigits(view, position + 5, middle);
  view.setUint8(position + 9, 48 + (lower - middle * 10));
  return trimZeros(view, position + 10);
}

/** Writes up to four digits without leading zeros. */
function writeHead(view: DataView, position: number, value: number): number {
  if (value >= 1000) {
    writeFourDigits(view, position, value);
    return position + 4;
  }
  if (value < 10) {
    view.setUint8(position, 48 + value);
    return position + 1;
  }
  if (value < 100) {
    view.setUint16(position, PAIRS_U16[value]!, LITTLE_ENDIAN);
    return position + 2;
  }
  const hundreds = (value / 100) | 0;
  view.setUint8(position, 48 + hundreds);
  view.setUint16(position + 1, PAIRS_U16[value - hundreds * 100]!, LITTLE_ENDIAN);
  return position + 3;
}

function trimZeros(view: DataView, end: number): number {
  let last = end;
  while (view.getUint8(last - 1) === 0x30) last--;
  return last;
}
