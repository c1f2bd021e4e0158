import { COMMA, CR, LF, QUOTE, SEMICOLON, TAB } from "./ascii.ts";
import { createByteFeed } from "./lines.ts";

/**
 * RFC 4180, read where the bytes lie: no text is made of a field that nobody asks for. Lines end in LF or CRLF; an
 * empty line is no record. A quote in a field that doesn't begin with one is an ordinary character. Fields are
 * separated by commas, or by what programs write where a comma is part of numbers.
 */

export const CSV_FIELDS_MAX = 1024; // The widest report has 22; sensors' tables have a few hundred.

/** What separates the fields of a CSV file, as a byte. */
export type CsvDelimiter = number;

/** Reads record after record of a text that is pushed in pieces. */
export class CsvReader {
  readonly #feed = createByteFeed();
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** Null until it is found. */
  #delimiter: CsvDelimiter | null;
  #nextLine = 1;
  /** Line ends within quotes of the record. */
  #lineEndsInside = 0;

  /* The record, until the next call of `next`. */

  /** By field, where it begins and ends in `bytes`, without the quotes around it. */
  readonly starts = new Int32Array(CSV_FIELDS_MAX);
  readonly ends = new Int32Array(CSV_FIELDS_MAX);
  /** By field, 1 where it has doubled quotes in it, which `text` makes single. */
  readonly escaped = new Uint8Array(CSV_FIELDS_MAX);
  fieldCount = 0;
  /** What makes the record unreadable, in words; null where nothing does. */
  fault: string | null = null;
  /** Line that the record begins on, from 1. */
  line = 0;

  /** Null has the delimiter found in the first record. */
  constructor(delimiter: CsvDelimiter | null = COMMA) {
    this.#delimiter = delimiter;
  }

  push(piece: Uint8Array): void {
    this.#feed.push(piece);
  }

  /** Nothing more follows: a last line without line end is a record too. */
  end(): void {
    this.#feed.end();
  }

  /** Moves to the next record; false where more must be pushed first, or nothing is left. */
  next(): boolean {
    const feed = this.#feed;
    while (feed.position < feed.bytes.length) {
      this.#delimiter ??= findDelimiter(feed.bytes, feed.position, feed.ended);
      if (this.#delimiter === null || !this.#readRecord(this.#delimiter)) return false;
      const isEmptyLine = this.fieldCount === 1 && this.starts[0] === this.ends[0] && this.fault === null;
      if (!isEmptyLine) return true;
    }
    return false;
  }

  /** What separates fields; null before the first record of a text whose delimiter is to be found. */
  get delimiter(): CsvDelimiter | null {
    return this.#delimiter;
  }

  get bytes(): Uint8Array {
    return this.#feed.bytes;
  }

  /** Bytes of a record that has begun and not ended. */
  get waitingBytes(): number {
    return this.#feed.bytes.length - this.#feed.position;
  }

  /** A field as text; null where it is not valid UTF-8. */
  text(field: number): string | null {
    try {
      const text = this.#decoder.decode(this.#feed.bytes.subarray(this.starts[field]!, this.ends[field]!));
      return this.escaped[field] === 1 ? text.replaceAll('""', '"') : text;
    } catch {
      return null;
    }
  }

  /** All fields as texts. */
  texts(): (string | null)[] {
    return Array.from({ length: this.fieldCount }, (_, field) => this.text(field));
  }

  /** Line that the next record begins on. */
  get nextLine(): number {
    return this.#nextLine;
  }

  /** Reads one record or empty line; false where its end has not arrived, and nothing is taken. */
  #readRecord(delimiter: CsvDelimiter): boolean {
    const { starts, ends, escaped } = this;
    const { bytes, ended } = this.#feed;
    const { length } = bytes;
    let at = this.#feed.position;
    let count = 0;
    this.fault = null;
    this.#lineEndsInside = 0;
    for (;;) {
      const start = at;
      const isQuoted = at < length && bytes[at] === QUOTE && count < CSV_FIELDS_MAX;
      if (isQuoted) at = this.#readQuotedField(bytes, count, at, delimiter);
      else while (at < length && bytes[at] !== delimiter && bytes[at] !== LF) at++;
      if (at >= length && !ended) return false;

      const isLast = at >= length || bytes[at] === LF;
      if (!isQuoted && count < CSV_FIELDS_MAX) {
        starts[count] = start;
        ends[count] = isLast && at > start && bytes[at - 1] === CR ? at - 1 : at;
        escaped[count] = 0;
      }
      count++;
      if (isLast) break;
      at++;
    }
    if (count > CSV_FIELDS_MAX) this.fault ??= `it has more than ${CSV_FIELDS_MAX} fields`;
    this.fieldCount = count;
    this.line = this.#nextLine;
    this.#nextLine += this.#lineEndsInside + 1;
    this.#feed.take(Math.min(at + 1, length));
    return true;
  }

  /** Notes the field that begins with the quote at `from`; returns where its delimiter or line end is. */
  #readQuotedField(bytes: Uint8Array, field: number, from: number, delimiter: CsvDelimiter): number {
    const { length } = bytes;
    let at = from + 1;
    this.starts[field] = at;
    this.escaped[field] = 0;
    for (; at < length; at++) {
      if (bytes[at] === LF) this.#lineEndsInside++;
      if (bytes[at] !== QUOTE) continue;
      if (at + 1 >= length || bytes[at + 1] !== QUOTE) break;
      this.escaped[field] = 1;
      at++;
    }
    this.ends[field] = at;
    if (at >= length) this.fault ??= "a quote is never closed"; // Or not yet: then the record is read again.
    const afterQuote = ++at;
    while (at < length && bytes[at] !== delimiter && bytes[at] !== LF) at++;
    const isLineEnd = at === afterQuote + 1 && bytes[afterQuote] === CR && bytes[at] !== delimiter;
    if (at > afterQuote && !isLineEnd) this.fault ??= "a quoted field is followed by more text";
    return at;
  }
}

/**
 * The delimiter that the first line which isn't empty has most of, outside quotes; a comma where it has none. Null
 * where the line's end is not among the bytes, although more follow.
 */
function findDelimiter(bytes: Uint8Array, from: number, ended: boolean): CsvDelimiter | null {
  let at = from;
  while (bytes[at] === CR || bytes[at] === LF) at++;
  let commas = 0;
  let semicolons = 0;
  let tabs = 0;
  let isQuoted = false;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (byte === LF) break;
    else if (byte === COMMA) commas++;
    else if (byte === SEMICOLON) semicolons++;
    else if (byte === TAB) tabs++;
  }
  if (at === bytes.length && !ended) return null;
  if (commas >= semicolons && commas >= tabs) return COMMA;
  return semicolons >= tabs ? SEMICOLON : TAB;
}
