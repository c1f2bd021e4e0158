import { Buffer } from "node:buffer";
import { assert } from "../assert.ts";
import { compareUtf8 } from "../text/utf8.ts";
import { PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "./number-pool.ts";

/** Texts in pages of bytes. */

const NUMBERS_INITIAL = 16;

/** In place of a length: the text is kept as it is. */
const AS_IT_IS = 255;
/** Longer texts are kept as they are, and so are those with anything but ASCII. */
const PACKED_UNITS_MAX = 254;
/** Where no text is: the first byte of a page is nobody's. */
const NOWHERE = 0;
const BYTES_INITIAL = 64;
/** A full page has no more room for each byte of its texts. */
const ROOM_SHARE = 9 / 8;

/** Texts of lower numbers stay strings once somebody has asked: so a small fleet has each made once. */
const MADE_MAX = 16_384;

/*
 * A page of bytes, in no order:
 *
 *   | 0 | length u8, ASCII | length u8, ASCII | ...
 */
interface TextPage {
  bytes: Buffer;
  /** By number, where in the bytes its text is. */
  starts: Uint32Array;
  end: number;
  count: number;
  /** Of texts that are gone. */
  unusedBytes: number;
}

/**
 * Texts by small numbers. As strings of their own, names of 13 letters took 72 bytes each and had the collector look
 * at two objects; here they take 18, and a string is made when somebody asks for one.
 */
export class PackedTexts {
  readonly #pages: (TextPage | undefined)[] = [];
  readonly #asTheyAre = new Map<number, string>();
  /** By number, those that were made. */
  #made: (string | undefined)[] = [];
  /** What the page that was filled last takes: about what the next one will. */
  #pageBytes = BYTES_INITIAL;
  #end = 0;

  /** Numbers that have had a text are below. */
  get numbersEnd(): number {
    return this.#end;
  }

  /** Gives a number that has no text one. */
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
    bytes[start] = isPacked ? units : AS_IT_IS;
    for (let unit = 0; unit < units; unit++) bytes[start + 1 + unit] = text.charCodeAt(unit);
    if (!isPacked) this.#asTheyAre.set(number, text);
    const at = number & PAGE_MASK;
    if (at >= page.starts.length) growStarts(page, at + 1);
    page.starts[at] = start;
    page.end = start + 1 + units;
    page.count++;
    if (number >= this.#end) this.#end = number + 1;
    if (page.count === PAGE_NUMBERS) this.#trim(page);
  }

  /** Takes the text of a number away. */
  delete(number: number): void {
    const page = this.#pages[number >>> PAGE_SHIFT]!;
    const start = page.starts[number & PAGE_MASK]!;
    const length = page.bytes[start]!;
    if (length === AS_IT_IS) this.#asTheyAre.delete(number);
    page.unusedBytes += 1 + (length === AS_IT_IS ? 0 : length);
    page.starts[number & PAGE_MASK] = NOWHERE;
    if (number < this.#made.length) this.#made[number] = undefined;
    if (--page.count === 0) this.#pages[number >>> PAGE_SHIFT] = undefined;
  }

  has(number: number): boolean {
    const page = this.#pages[number >>> PAGE_SHIFT];
    return page !== undefined && (page.starts[number & PAGE_MASK] ?? NOWHERE) !== NOWHERE;
  }

  /** The text of a number that has one. */
  text(number: number): string {
    const known = number < this.#made.length ? this.#made[number] : undefined;
    if (known !== undefined) return known;
    const page = this.#pages[number >>> PAGE_SHIFT]!;
    const start = page.starts[number & PAGE_MASK]!;
    assert(start !== NOWHERE, "who asks for the text of a number knows that it has one");
    const length = page.bytes[start]!;
    if (length === AS_IT_IS) return this.#asTheyAre.get(number)!;
    const text = unpackText(page.bytes, start);
    this.#remember(number, text);
    return text;
  }

  /** The text of a number that has one, where it is a string already; else it lies at a place of some bytes. */
  made(number: number): string | null {
    const known = number < this.#made.length ? this.#made[number] : undefined;
    if (known !== undefined) return known;
    const { bytes, starts } = this.#pages[number >>> PAGE_SHIFT]!;
    return bytes[starts[number & PAGE_MASK]!] === AS_IT_IS ? this.#asTheyAre.get(number)! : null;
  }

  /** What `unpackText` makes the text of a number from, also when that number has none any more, or another. */
  bytesOf(number: number): Buffer {
    return this.#pages[number >>> PAGE_SHIFT]!.bytes;
  }

  startOf(number: number): number {
    return this.#pages[number >>> PAGE_SHIFT]!.starts[number & PAGE_MASK]!;
  }

  /** Whether a number that has a text has this one. */
  is(number: number, text: string): boolean {
    const known = this.#made[number];
    return known === undefined ? this.#isPacked(number, text) : known === text; // Faster than a loop over bytes.
  }

  /** Below 0 where the text of a number that has one comes before this one by their UTF-8 bytes, above 0 behind it. */
  compare(number: number, text: string): number {
    const { bytes, starts } = this.#pages[number >>> PAGE_SHIFT]!;
    const start = starts[number & PAGE_MASK]!;
    const length = bytes[start]!;
    if (length === AS_IT_IS) return compareUtf8(this.#asTheyAre.get(number)!, text);
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
    if (length === AS_IT_IS) return this.#asTheyAre.get(number) === text;
    if (length !== text.length) return false;
    for (let unit = 0; unit < length; unit++)
      if (bytes[start + 1 + unit] !== text.charCodeAt(unit)) return false;
    this.#remember(number, text);
    return true;
  }

  #remember(number: number, text: string): void {
    if (number >= MADE_MAX) return;
    while (this.#made.length < Math.min(this.#end, MADE_MAX)) this.#made.push(undefined);
    this.#made[number] = text;
  }

  /** Once all numbers of a page have a text, it takes little more than they do. */
  #trim(page: TextPage): void {
    const used = page.end - page.unusedBytes;
    if (page.bytes.length > used * ROOM_SHARE) moveTo(page, used);
    this.#pageBytes = used;
  }
}

/** The text that lies somewhere. Bytes of a text are never written over: what has to move is copied. */
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

/** Room is doubled while a page has few texts; with half of them its size can be told. */
function makeRoom(page: TextPage, bytes: number): void {
  const used = page.end - page.unusedBytes;
  const share = page.count < PAGE_NUMBERS / 2 ? 2 : ROOM_SHARE;
  moveTo(page, Math.max(used + bytes, Math.ceil(used * share)));
}

/** Moves texts to bytes of their own, and leaves out those that are gone. */
function moveTo(page: TextPage, length: number): void {
  const { bytes, starts } = page;
  const moved = Buffer.alloc(length);
  let end = NOWHERE + 1;
  for (let at = 0; at < starts.length; at++) {
    const start = starts[at]!;
    if (start === NOWHERE) continue;
    const textLength = bytes[start]!;
    const next = start + 1 + (textLength === AS_IT_IS ? 0 : textLength);
    moved.set(bytes.subarray(start, next), end);
    starts[at] = end;
    end += next - start;
  }
  page.bytes = moved;
  page.end = end;
  page.unusedBytes = 0;
}
