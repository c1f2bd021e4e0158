/**
 * Writes JSON text as UTF-8 straight into one growing buffer. Numbers and ready-made fragments go in without
 * a string in between: encoding is what a page of records costs most.
 */
export class JsonWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  constructor(bytesExpected: number) {
    this.#bytes = new Uint8Array(bytesExpected);
  }

  get length(): number {
    return this.#length;
  }

  /** Starts over, keeping the buffer. */
  clear(): void {
    this.#length = 0;
  }

  /** A copy of all that was written. */
  take(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  /** Bytes of text made before. */
  fragment(bytes: Uint8Array): void {
    const length = bytes.length;
    if (this.#length + length > this.#bytes.length) this.#grow(length);
    const target = this.#bytes;
    let position = this.#length;
    if (length > FRAGMENT_LOOP_MAX) target.set(bytes, position);
    else for (let i = 0; i < length; i++) target[position++] = bytes[i]!; // A call costs more than a few stores.
    this.#length += length;
  }

  /** Any JSON text; for what is written once an answer. */
  text(json: string): void {
    this.fragment(encoder.encode(json));
  }

  /** Any value, as `JSON.stringify` writes it. */
  value(value: unknown): void {
    this.text(JSON.stringify(value));
  }

  /** A finite number, as `JSON.stringify` writes it. */
  number(value: number): void {
    if (this.#length + NUMBER_BYTES_MAX > this.#bytes.length) this.#grow(NUMBER_BYTES_MAX);
    this.#length = writeNumber(this.#bytes, this.#length, value);
  }

  /** Room for `count` bytes that the caller writes by itself, through `at`. */
  reserve(count: number, write: (bytes: Uint8Array, position: number) => void): void {
    if (this.#length + count > this.#bytes.length) this.#grow(count);
    write(this.#bytes, this.#length);
    this.#length += count;
  }

  #grow(by: number): void {
    const wider = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + by));
    wider.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = wider;
  }
}

const encoder = new TextEncoder();

/** Below this many bytes a loop beats `set`; measured on Bun 1.4.5. */
const FRAGMENT_LOOP_MAX = 24;

/** `-2.2250738585072014e-308` is the longest. */
const NUMBER_BYTES_MAX = 32;

/** Doubles tell all decimals of 15 digits apart, so a decimal this short that reads back is the shortest. */
const DIGITS_15 = 1e15;

/** Smaller numbers are written with an exponent, as JavaScript does. */
const EXPONENT_BELOW = 1e-6;

/** `0000` to `9999`, four bytes each: two look-ups write what ten divisions would. */
const QUADS = new Uint8Array(40_000);
for (let quad = 0; quad < 10_000; quad++) {
  for (let digit = 3, rest = quad; digit >= 0; digit--, rest = Math.floor(rest / 10)) {
    QUADS[quad * 4 + digit] = 48 + (rest % 10);
  }
}

/** Writes the shortest decimal that reads back as `value`; returns the position after it. */
export function writeNumber(bytes: Uint8Array, position: number, value: number): number {
  let at = position;
  let size = value;
  if (value < 0) {
    bytes[at++] = 0x2d;
    size = -value;
  }
  if (size < DIGITS_15) {
    const whole = Math.floor(size);
    if (whole === size) return writeInteger(bytes, at, whole);
    if (size >= EXPONENT_BELOW) {
      // Most readings have few decimals: a whole number of millionths, or of billionths, is exact.
      const millionths = Math.floor(size * 1e6 + 0.5);
      if (millionths / 1e6 === size && millionths < DIGITS_15) {
        const end = writeInteger(bytes, at, whole);
        return trimZeros(bytes, writeFraction(bytes, end, (millionths - whole * 1e6) * 100));
      }
      const billionths = Math.floor(size * 1e9 + 0.5);
      if (billionths / 1e9 === size && billionths < DIGITS_15) {
        const fraction = billionths - whole * 1e9;
        const tenBillionths = Math.floor(fraction / 10);
        const end = writeFraction(bytes, writeInteger(bytes, at, whole), tenBillionths);
        bytes[end] = 48 + (fraction - tenBillionths * 10);
        return trimZeros(bytes, end + 1);
      }
    }
  }
  const text = String(value);
  for (let i = 0; i < text.length; i++) bytes[position + i] = text.charCodeAt(i);
  return position + text.length;
}

/** Writes a whole number from 0 to below 1e15; returns the position after it. */
export function writeInteger(bytes: Uint8Array, position: number, value: number): number {
  if (value < 10_000) return writeHead(bytes, position, value | 0);
  if (value < 1e8) {
    const head = (value / 1e4) | 0;
    return writeQuad(bytes, writeHead(bytes, position, head), (value - head * 1e4) | 0);
  }
  const head = Math.floor(value / 1e8);
  return writeEight(bytes, writeInteger(bytes, position, head), value - head * 1e8);
}

/** Writes a point and eight digits; the caller trims the zeros. */
function writeFraction(bytes: Uint8Array, position: number, hundredMillionths: number): number {
  bytes[position] = 0x2e;
  return writeEight(bytes, position + 1, hundredMillionths);
}

function writeEight(bytes: Uint8Array, position: number, value: number): number {
  const high = (value / 1e4) | 0;
  return writeQuad(bytes, writeQuad(bytes, position, high), (value - high * 1e4) | 0);
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
