import { COMMA, CR, LF, QUOTE, SEMICOLON, TAB } from "./ascii.ts";
import { createByteFeed } from "./lines.ts";
import { decodeUtf8Part } from "./long-text.ts";

/**
 * Reads CSV (RFC 4180) in place: fields become strings only on demand. Lines end in LF or CRLF; an empty line is not a
 * record. A quote in a field that does not begin with one is an ordinary character. The delimiter is a comma, or what
 * programs write where numbers contain commas.
 */

export const CSV_FIELDS_MAX = 1024; // The widest report has 22; sensors' tables have a few hundred.

/** The byte that separates fields. */
export type CsvDelimiter = number;

/** Reads the records of a text that is pushed in pieces. */
export class CsvReader {
  readonly #feed = createByteFeed();
  /** Null until it is detected. */
  #delimiter: CsvDelimiter | null;
  #nextLine = 1;
  /** Line ends within quotes of the current record. */
  #lineEndsInside = 0;

  // The fields below describe the current record, until the next call of `next()`.

  /** Start and end of each field in `bytes`, without enclosing quotes. */
  readonly starts = new Int32Array(CSV_FIELDS_MAX);
  readonly ends = new Int32Array(CSV_FIELDS_MAX);
  /** 1 for each field with doubled quotes, which `text()` undoubles. */
  readonly escaped = new Uint8Array(CSV_FIELDS_MAX);
  fieldCount = 0;
  /** Why the record can't be read, for people; null if it can. */
  fault: string | null = null;
  /** The line on which the record begins, from 1. */
  line = 0;

  /** Null to detect the delimiter in the first record. */
  constructor(delimiter: CsvDelimiter | null = COMMA) {
    this.#delimiter = delimiter;
  }

  push(piece: Uint8Array): void {
    this.#feed.push(piece);
  }

  /** Call after the last piece: a last line without a line end is a record too. */
  end(): void {
    this.#feed.end();
  }

  /** Moves to the next record; false if more must be pushed first, or nothing is left. */
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

  /** Null before the first record of a text whose delimiter is detected. */
  get delimiter(): CsvDelimiter | null {
    return this.#delimiter;
  }

  get bytes(): Uint8Array {
    return this.#feed.bytes;
  }

  /** Bytes of an incomplete record. */
  get waitingBytes(): number {
    return this.#feed.bytes.length - this.#feed.position;
  }

  /** A field as text; null if it is not valid UTF-8. */
  text(field: number): string | null {
    const text = decodeUtf8Part(this.#feed.bytes.subarray(this.starts[field]!, this.ends[field]!));
    return this.escaped[field] === 1 && text !== null ? text.replaceAll('""', '"') : text;
  }

  texts(): (string | null)[] {
    return Array.from({ length: this.fieldCount }, (_, field) => this.text(field));
  }

  /** The line on which the next record begins. */
  get nextLine(): number {
    return this.#nextLine;
  }

  /** Reads one record or empty line. If its end has not arrived, returns false and consumes nothing. */
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

  /** Records the field that begins with the quote at `from`. Returns the position of its delimiter or line end. */
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
    if (at >= length) this.fault ??= "a quote is never closed"; // If it is closed later, the record is read again.
    const afterQuote = ++at;
    while (at < length && bytes[at] !== delimiter && bytes[at] !== LF) at++;
    const isLineEnd = at === afterQuote + 1 && bytes[afterQuote] === CR && bytes[at] !== delimiter;
    if (at > afterQuote && !isLineEnd) this.fault ??= "a quoted field is followed by more text";
    return at;
  }
}

/**
 * The most frequent delimiter outside quotes in the first line that is not empty; a comma if there is none. Null if the
 * line's end has not arrived.
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
