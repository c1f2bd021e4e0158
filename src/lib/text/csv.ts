import { createByteFeed } from "./byte-feed.ts";
import type { TextPosition } from "./text-position.ts";

/**
 * RFC 4180, read where the bytes lie: no text is made of a field that nobody asks for. Lines end in LF or CRLF; an
 * empty line is no record. A quote in a field that doesn't begin with one is an ordinary character.
 */
export interface CsvReader {
  push(piece: Uint8Array): void;
  /** Nothing more follows: a last line without line end is a record too. */
  end(): void;
  /** Moves to the next record; false where more must be pushed first, or nothing is left. */
  next(): boolean;
  /** Bytes of a record that has begun and not ended. */
  readonly waitingBytes: number;

  /* The record, until the next call. */
  readonly bytes: Uint8Array;
  readonly fieldCount: number;
  /** By field, its place in `bytes`, without the quotes around it. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** By field, 1 where it has doubled quotes in it, which `text` makes single. */
  readonly escaped: Uint8Array;
  /** What makes the record unreadable, in words; null where nothing does. */
  readonly fault: string | null;
  /** Line that the record begins on, from 1. */
  readonly line: number;
  /** A field as text; null where it is not valid UTF-8. */
  text(field: number): string | null;

  /** Where the next record begins. */
  readonly position: TextPosition;
  /** Goes on at the beginning of another record, further down. */
  skipTo(position: TextPosition): void;
}

export const CSV_FIELDS_MAX = 1024; // The widest report has 22; sensors' tables have a few hundred.

const QUOTE = 0x22;
const COMMA = 0x2c;
const CR = 0x0d;
const LF = 0x0a;

export function createCsvReader(): CsvReader {
  const feed = createByteFeed();
  const starts = new Int32Array(CSV_FIELDS_MAX);
  const ends = new Int32Array(CSV_FIELDS_MAX);
  const escaped = new Uint8Array(CSV_FIELDS_MAX);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let fieldCount = 0;
  let fault: string | null = null;
  let line = 0;
  let nextLine = 1;
  let lineEndsInside = 0;

  /** Reads one record or empty line; false where its end has not arrived, and nothing is taken. */
  function readRecord(): boolean {
    const { bytes, ended } = feed;
    const { length } = bytes;
    let at = feed.position;
    fieldCount = 0;
    fault = null;
    lineEndsInside = 0;
    for (;;) {
      const start = at;
      const isQuoted = at < length && bytes[at] === QUOTE && fieldCount < CSV_FIELDS_MAX;
      if (isQuoted) at = readQuotedField(at);
      else while (at < length && bytes[at] !== COMMA && bytes[at] !== LF) at++;
      if (at >= length && !ended) return false;

      const isLast = at >= length || bytes[at] === LF;
      if (!isQuoted && fieldCount < CSV_FIELDS_MAX) {
        starts[fieldCount] = start;
        ends[fieldCount] = isLast && at > start && bytes[at - 1] === CR ? at - 1 : at;
        escaped[fieldCount] = 0;
      }
      fieldCount++;
      if (isLast) break;
      at++;
    }
    if (fieldCount > CSV_FIELDS_MAX) fault ??= `it has more than ${CSV_FIELDS_MAX} fields`;
    line = nextLine;
    nextLine += lineEndsInside + 1;
    feed.take(Math.min(at + 1, length));
    return true;
  }

  /** Notes the field that begins with the quote at `at`; returns where its comma or line end is. */
  function readQuotedField(at: number): number {
    const { bytes } = feed;
    const { length } = bytes;
    starts[fieldCount] = ++at;
    escaped[fieldCount] = 0;
    for (; at < length; at++) {
      if (bytes[at] === LF) lineEndsInside++;
      if (bytes[at] !== QUOTE) continue;
      if (at + 1 >= length || bytes[at + 1] !== QUOTE) break;
      escaped[fieldCount] = 1;
      at++;
    }
    ends[fieldCount] = at;
    if (at >= length) fault ??= "a quote is never closed"; // Or not yet: then the record is read again.
    const afterQuote = ++at;
    while (at < length && bytes[at] !== COMMA && bytes[at] !== LF) at++;
    const isLineEnd = at === afterQuote + 1 && bytes[afterQuote] === CR && bytes[at] !== COMMA;
    if (at > afterQuote && !isLineEnd) fault ??= "a quoted field is followed by more text";
    return at;
  }

  return {
    starts,
    ends,
    escaped,
    push: (piece) => feed.push(piece),
    end: () => feed.end(),
    next() {
      while (feed.position < feed.bytes.length) {
        if (!readRecord()) return false;
        const isEmptyLine = fieldCount === 1 && starts[0] === ends[0] && fault === null;
        if (!isEmptyLine) return true;
      }
      return false;
    },
    get waitingBytes() {
      return feed.bytes.length - feed.position;
    },
    get bytes() {
      return feed.bytes;
    },
    get fieldCount() {
      return fieldCount;
    },
    get fault() {
      return fault;
    },
    get line() {
      return line;
    },
    text(field) {
      try {
        const text = decoder.decode(feed.bytes.subarray(starts[field]!, ends[field]!));
        return escaped[field] === 1 ? text.replaceAll('""', '"') : text;
      } catch {
        return null;
      }
    },
    get position() {
      return { offset: feed.offset, line: nextLine };
    },
    skipTo(position) {
      feed.skipTo(position.offset);
      nextLine = position.line;
    },
  };
}
