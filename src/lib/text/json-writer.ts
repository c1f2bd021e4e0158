import { BACKSLASH, QUOTE } from "./ascii.ts";

/** Text made before and written often: its bytes as whole 8-byte words, and how many of them count. */
export interface Fragment {
  readonly words: Float64Array;
  readonly bytes: number;
}

const WORD_BYTES = 8;

/**
 * UTF-8 never holds the byte 0xFF, and JSON text never a bare 0x7F but inside a string, where it is escaped
 * here; so no word reads as a NaN, whose bits an engine may change on the way.
 */
export function createFragment(json: string): Fragment {
  const text = encoder.encode(json.replaceAll("\u007f", "\\u007f"));
  const padded = new Uint8Array(Math.ceil(text.length / WORD_BYTES) * WORD_BYTES);
  padded.set(text);
  return { words: new Float64Array(padded.buffer), bytes: text.length };
}

/**
 * Writes JSON text as UTF-8 straight into one growing buffer. Numbers and ready-made fragments go in without
 * a string in between: encoding is what a page of records costs most. Hot code calls `ensure` once, writes
 * through `bytes` and `view` from `length` on by itself, and sets `length` when it is done.
 */
export class JsonWriter {
  bytes: Uint8Array<ArrayBuffer>;
  view: DataView;
  /** Bytes written so far. */
  length = 0;
  #end: number;

  /** Writes into the first `bytesExpected` of `memory`, and into memory of its own where they don't suffice. */
  constructor(bytesExpected: number, memory: Uint8Array<ArrayBuffer> = new Uint8Array(bytesExpected)) {
    this.bytes = memory;
    this.view = new DataView(memory.buffer, memory.byteOffset, memory.length);
    this.#end = bytesExpected;
  }

  /** Starts over, keeping the buffer. */
  clear(): void {
    this.length = 0;
  }

  /** All that was written, in place: good until something is written again. */
  written(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  /** Makes room for `count` more bytes; `bytes` and `view` may be others afterwards. */
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

  /** Any JSON text; for what is written once an answer. */
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

  /** Text made before. */
  fragment(fragment: Fragment): void {
    this.ensure(fragmentRoom(fragment));
    this.length = writeFragment(this.view, this.length, fragment);
  }

  /** Any value, as `JSON.stringify` writes it. */
  value(value: unknown): void {
    this.text(JSON.stringify(value));
  }

  /** A text as `JSON.stringify` writes it. Most are short and plain, and go in without another text in between. */
  string(text: string): void {
    this.ensure(TEXT_LOOP_MAX + 2);
    const end = writePlainString(this.bytes, this.length, text);
    if (end === null) this.value(text);
    else this.length = end;
  }

  /** A finite number, as `JSON.stringify` writes it. */
  number(value: number): void {
    this.ensure(NUMBER_BYTES_MAX);
    this.length = writeNumber(this.bytes, this.length, value);
  }
}

const encoder = new TextEncoder();

/** Plain texts up to this are written by a loop, which costs less than the call to the encoder. */
const TEXT_LOOP_MAX = 64;

/** Returns the position after it; null where the text is long, or not printable ASCII without escapes. */
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

/**
 * Fragments are read as words of this machine, so they are written as such; both runtimes run on little-endian ones.
 */
const LITTLE_ENDIAN = true;

/** Bytes to ensure before `writeFragment`: its last word may reach past its end. */
export function fragmentRoom({ words }: Fragment): number {
  return words.length * WORD_BYTES;
}

/**
 * Text made before, eight bytes a step: a call to `set` or `copyWithin` costs more than a whole fragment. What
 * the last step writes past the fragment's end, the next text covers. Returns the position after it.
 */
export function writeFragment(view: DataView, position: number, { words, bytes }: Fragment): number {
  for (let i = 0, at = position; i < words.length; i++, at += WORD_BYTES) {
    view.setFloat64(at, words[i]!, LITTLE_ENDIAN);
  }
  return position + bytes;
}

/** `-2.2250738585072014e-308` is the longest. */
export const NUMBER_BYTES_MAX = 32;

/** Doubles tell all decimals of 15 digits apart, so a decimal this short that reads back is the shortest. */
const DIGITS_15 = 1e15;

/** Smaller numbers are written with an exponent, as JavaScript does. */
const EXPONENT_BELOW = 1e-6;

/** Whole parts below this are 32-bit numbers, whose arithmetic is cheaper. */
const SMALL_BELOW = 1e9;

/** `0000` to `9999`, four bytes each: one look-up writes what four divisions would. */
const QUADS = new Uint8Array(40_000);
for (let quad = 0; quad < 10_000; quad++) {
  for (let digit = 3, rest = quad; digit >= 0; digit--, rest = Math.floor(rest / 10)) {
    QUADS[quad * 4 + digit] = 48 + (rest % 10);
  }
}

const QUADS_U32 = new Uint32Array(QUADS.buffer);

/**
 * The text of every number of hundredths up to 400, a word and its length each: accuracies, speeds, bearings
 * and charges are nearly always among them, and copying a word costs a quarter of writing digits.
 */
const HUNDREDTHS = 40_001;
const HUNDREDTH_WORDS = new Float64Array(HUNDREDTHS);
const HUNDREDTH_BYTES = new Uint8Array(HUNDREDTHS);
const hundredthText = new Uint8Array(HUNDREDTH_WORDS.buffer);
for (let hundredths = 0; hundredths < HUNDREDTHS; hundredths++) {
  const start = hundredths * WORD_BYTES;
  HUNDREDTH_BYTES[hundredths] = writeNumber(hundredthText, start, hundredths / 100) - start;
}

/** The same as `writeNumber`, for numbers that are likely to have few digits. */
export function writeReading(bytes: Uint8Array, view: DataView, position: number, value: number): number {
  const hundredths = (value * 100 + 0.5) | 0;
  if (hundredths >= 0 && hundredths < HUNDREDTHS && hundredths / 100 === value) {
    view.setFloat64(position, HUNDREDTH_WORDS[hundredths]!, LITTLE_ENDIAN);
    return position + HUNDREDTH_BYTES[hundredths]!;
  }
  return writeNumber(bytes, position, value);
}

/** Writes the shortest decimal that reads back as `value`; returns the position after it. */
export function writeNumber(bytes: Uint8Array, position: number, value: number): number {
  let at = position;
  let size = value;
  if (value < 0) {
    bytes[at++] = 0x2d;
    size = -value;
  }
  if (size < SMALL_BELOW) {
    const whole = size | 0;
    if (whole === size) return writeSmall(bytes, at, whole);
    if (size >= EXPONENT_BELOW) {
      // Most readings have few decimals: a whole number of millionths, or of billionths, is exact.
      const millionths = Math.floor(size * 1e6 + 0.5);
      if (millionths / 1e6 === size && millionths < DIGITS_15) {
        return writeMillionths(bytes, writeSmall(bytes, at, whole), (millionths - whole * 1e6) | 0);
      }
      const billionths = Math.floor(size * 1e9 + 0.5);
      if (billionths / 1e9 === size && billionths < DIGITS_15) {
        return writeBillionths(bytes, writeSmall(bytes, at, whole), (billionths - whole * 1e9) | 0);
      }
    }
  } else if (size < DIGITS_15 && Math.floor(size) === size) {
    return writeInteger(bytes, at, size);
  }
  const text = String(value);
  for (let i = 0; i < text.length; i++) bytes[position + i] = text.charCodeAt(i);
  return position + text.length;
}

/** Writes a whole number from 0 to below 1e15; returns the position after it. */
export function writeInteger(bytes: Uint8Array, position: number, value: number): number {
  if (value < SMALL_BELOW) return writeSmall(bytes, position, value | 0);
  const head = Math.floor(value / 1e8); // Below 1e7.
  const rest = (value - head * 1e8) | 0;
  const high = (rest / 1e4) | 0;
  return writeQuad(
    bytes,
    writeQuad(bytes, writeSmall(bytes, position, head | 0), high),
    rest - high * 10_000,
  );
}

/** Writes a whole number from 0 to 9999 in four digits. */
export function writeFourDigits(view: DataView, position: number, value: number): void {
  view.setUint32(position, QUADS_U32[value]!, LITTLE_ENDIAN);
}

/** Writes a whole number from 0 to below 1e9. */
function writeSmall(bytes: Uint8Array, position: number, value: number): number {
  if (value < 10_000) return writeHead(bytes, position, value);
  const head = (value / 1e4) | 0;
  return writeQuad(bytes, writeSmall(bytes, position, head), value - head * 10_000);
}

/** Writes a point and up to six digits without trailing zeros; the fraction is not 0. */
function writeMillionths(bytes: Uint8Array, position: number, fraction: number): number {
  bytes[position] = 0x2e;
  const high = (fraction / 100) | 0;
  const low = fraction - high * 100;
  const end = writeQuad(bytes, position + 1, high);
  if (low === 0) return trimZeros(bytes, end);
  const from = low * 4 + 2;
  bytes[end] = QUADS[from]!;
  bytes[end + 1] = QUADS[from + 1]!;
  return trimZeros(bytes, end + 2);
}

/** The same with up to nine digits. */
function writeBillionths(bytes: Uint8Array, position: number, fraction: number): number {
  bytes[position] = 0x2e;
  const upper = (fraction / 1e5) | 0;
  const lower = fraction - upper * 100_000;
  const middle = (lower / 10) | 0;
  const end = writeQuad(bytes, writeQuad(bytes, position + 1, upper), middle);
  bytes[end] = 48 + (lower - middle * 10);
  return trimZeros(bytes, end + 1);
}

function writeQuad(bytes: Uint8Array, position: number, quad: number): number {
  const from = quad * 4;
  bytes[position] = QUADS[from]!;
  bytes[position + 1] = QUADS[from + 1]!;
  bytes[position + 2] = QUADS[from + 2]!;
  bytes[position + 3] = QUADS[from + 3]!;
  return position + 4;
}

/** Writes up to four digits without leading zeros. */
function writeHead(bytes: Uint8Array, position: number, value: number): number {
  const from = value * 4;
  let at = position;
  if (value >= 1000) bytes[at++] = QUADS[from]!;
  if (value >= 100) bytes[at++] = QUADS[from + 1]!;
  if (value >= 10) bytes[at++] = QUADS[from + 2]!;
  bytes[at] = QUADS[from + 3]!;
  return at + 1;
}

function trimZeros(bytes: Uint8Array, end: number): number {
  let last = end;
  while (bytes[last - 1] === 0x30) last--;
  return last;
}
