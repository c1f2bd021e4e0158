import { Buffer } from "node:buffer";
import { assert } from "../assert.ts";
import { compareUtf8 } from "../text/utf8.ts";
import { PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "./number-pool.ts";

const NUMBERS_INITIAL = 16;

/** Stands for the length: the text is stored as a string. */
const UNPACKED = 255;
/** Longer texts are stored as strings, and so are those with characters beyond ASCII. */
const PACKED_UNITS_MAX = 254;
/** Stands for the start of a missing text: the first byte of a page is unused. */
const NOWHERE = 0;
const BYTES_INITIAL = 64;
/** The size of a full page, relative to the bytes of its texts. */
const ROOM_SHARE = 9 / 8;

/** The strings of lower numbers are cached, so a small fleet creates each string once. */
const CACHED_MAX = 16_384;

// A page of bytes, in no order: | 0 | length u8, ASCII | length u8, ASCII | ...
interface TextPage {
  bytes: Buffer;
  /** Where each text begins in `bytes`, by number. */
  starts: Uint32Array;
  end: number;
  count: number;
  /** Bytes of deleted texts. */
  unusedBytes: number;
}

/**
 * Texts by small numbers. As strings, names of 13 letters took 72 bytes each, and two objects for the collector; here
 * they take 18, and a string is created on demand.
 */
export class PackedTexts {
  readonly #pages: (TextPage | undefined)[] = [];
  readonly #unpacked = new Map<number, string>();
  /** Cached strings, by number. */
  #strings: (string | undefined)[] = [];
  /** The size of the page that was filled last, as an estimate for the next one. */
  #pageBytes = BYTES_INITIAL;
  #end = 0;

  /** Numbers that ever had a text are below this. */
  get numbersEnd(): number {
    return this.#end;
  }

  /** Sets the text of a number that must not have one. */
  set(number: number, text: string): void {
    const index = number >>> PAGE_SHIFT;
    let page = this.#pages[index];
    if (page === undefined) {
      page = createPage(this.#pageBytes);
      this.#pages[index] = page;
    }
    const isPacked = isPackable(text);
    const units = isPacked ? text.length : 0;
    if (page.end + 1 + units > page.bytes.length) makeRoom(page, 1 + units);
    const start = page.end;
    const { bytes } = page;
    bytes[start] = isPacked ? units : UNPACKED;
    for (let unit = 0; unit < units; unit++) bytes[start + 1 + unit] = text.charCodeAt(unit);
    if (!isPacked) this.#unpacked.set(number, text);
    const at = number & PAGE_MASK;
    if (at >= page.starts.length) growStarts(page, at + 1);
    page.starts[at] = start;
    page.end = start + 1 + units;
    page.count++;
    if (number >= this.#end) this.#end = number + 1;
    if (page.count === PAGE_NUMBERS) this.#trim(page);
  }

  /** Deletes the text of a number. */
  delete(number: number): void {
    const page = this.#pages[number >>> PAGE_SHIFT]!;
    const start = page.starts[number & PAGE_MASK]!;
    const length = page.bytes[start]!;
    if (length === UNPACKED) this.#unpacked.delete(number);
    page.unusedBytes += 1 + (length === UNPACKED ? 0 : length);
    page.starts[number & PAGE_MASK] = NOWHERE;
    if (number < this.#strings.length) this.#strings[number] = undefined;
    if (--page.count === 0) this.#pages[number >>> PAGE_SHIFT] = undefined;
  }

  has(number: number): boolean {
    const page = this.#pages[number >>> PAGE_SHIFT];
    return page !== undefined && (page.starts[number & PAGE_MASK] ?? NOWHERE) !== NOWHERE;
  }

  /** The text of a number that must have one. */
  text(number: number): string {
    const known = number < this.#strings.length ? this.#strings[number] : undefined;
    if (known !== undefined) return known;
    const page = this.#pages[number >>> PAGE_SHIFT]!;
    const start = page.starts[number & PAGE_MASK]!;
    assert(start !== NOWHERE, "the number has a text");
    const length = page.bytes[start]!;
    if (length === UNPACKED) return this.#unpacked.get(number)!;
    const text = unpackText(page.bytes, start);
    this.#remember(number, text);
    return text;
  }

  /** The text of a number that must have one, if it exists as a string; null if it must be unpacked. */
  findString(number: number): string | null {
    const known = number < this.#strings.length ? this.#strings[number] : undefined;
    if (known !== undefined) return known;
    const { bytes, starts } = this.#pages[number >>> PAGE_SHIFT]!;
    return bytes[starts[number & PAGE_MASK]!] === UNPACKED ? this.#unpacked.get(number)! : null;
  }

  /** The arguments for `unpackText()`, which stay valid even when the number's text is deleted or replaced. */
  bytesOf(number: number): Buffer {
    return this.#pages[number >>> PAGE_SHIFT]!.bytes;
  }

  startOf(number: number): number {
    return this.#pages[number >>> PAGE_SHIFT]!.starts[number & PAGE_MASK]!;
  }

  /** Whether the text of a number, which must have one, is this one. */
  is(number: number, text: string): boolean {
    const known = this.#strings[number];
    return known === undefined ? this.#isPacked(number, text) : known === text; // Faster than a loop over bytes.
  }

  /** Compares UTF-8 bytes: negative if the text of the number comes before this one, positive if it comes after. */
  compare(number: number, text: string): number {
    const { bytes, starts } = this.#pages[number >>> PAGE_SHIFT]!;
    const start = starts[number & PAGE_MASK]!;
    const length = bytes[start]!;
    if (length === UNPACKED) return compareUtf8(this.#unpacked.get(number)!, text);
    const common = Math.min(length, text.length);
    for (let unit = 0; unit < common; unit++) {
      const difference = bytes[start + 1 + unit]! - text.charCodeAt(unit); // ASCII comes before all other units.
      if (difference !== 0) return difference;
    }
    return length - text.length;
  }

  #isPacked(number: number, text: string): boolean {
    const { bytes, starts } = this.#pages[number >>> PAGE_SHIFT]!;
    const start = starts[number & PAGE_MASK]!;
    const length = bytes[start]!;
    if (length === UNPACKED) return this.#unpacked.get(number) === text;
    if (length !== text.length) return false;
    for (let unit = 0; unit < length; unit++)
      if (bytes[start + 1 + unit] !== text.charCodeAt(unit)) return false;
    this.#remember(number, text);
    return true;
  }

  #remember(number: number, text: string): void {
    if (number >= CACHED_MAX) return;
    while (this.#strings.length < Math.min(this.#end, CACHED_MAX)) this.#strings.push(undefined);
    this.#strings[number] = text;
  }

  /** Shrinks a page whose numbers all have a text to little more than these texts need. */
  #trim(page: TextPage): void {
    const used = page.end - page.unusedBytes;
    if (page.bytes.length > used * ROOM_SHARE) moveTo(page, used);
    this.#pageBytes = used;
  }
}

/** The text at a position of a page's bytes. Texts are never overwritten; those that move are copied. */
export function unpackText(bytes: Buffer, start: number): string {
  return bytes.toString("latin1", start + 1, start + 1 + bytes[start]!);
}

function createPage(bytes: number): TextPage {
  return {
    bytes: Buffer.alloc(bytes),
    starts: new Uint32Array(NUMBERS_INITIAL),
    end: NOWHERE + 1,
    count: 0,
    unusedBytes: 0,
  };
}

function growStarts(page: TextPage, numbers: number): void {
  const starts = new Uint32Array(Math.min(PAGE_NUMBERS, Math.max(numbers, 2 * page.starts.length)));
  starts.set(page.starts);
  page.starts = starts;
}

function isPackable(text: string): boolean {
  if (text.length > PACKED_UNITS_MAX) return false;
  for (let unit = 0; unit < text.length; unit++) if (text.charCodeAt(unit) > 0x7f) return false;
  return true;
}

/** Doubles the bytes of a page with few texts. Once half of its numbers have one, the final size can be estimated. */
function makeRoom(page: TextPage, bytes: number): void {
  const used = page.end - page.unusedBytes;
  const share = page.count < PAGE_NUMBERS / 2 ? 2 : ROOM_SHARE;
  moveTo(page, Math.max(used + bytes, Math.ceil(used * share)));
}

/** Moves the texts of a page to new bytes, without those that were deleted. */
function moveTo(page: TextPage, length: number): void {
  const { bytes, starts } = page;
  const moved = Buffer.alloc(length);
  let end = NOWHERE + 1;
  for (let at = 0; at < starts.length; at++) {
    const start = starts[at]!;
    if (start === NOWHERE) continue;
    const textLength = bytes[start]!;
    const next = start + 1 + (textLength === UNPACKED ? 0 : textLength);
    moved.set(bytes.subarray(start, next), end);
    starts[at] = end;
    end += next - start;
  }
  page.bytes = moved;
  page.end = end;
  page.unusedBytes = 0;
}
