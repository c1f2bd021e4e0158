import { Buffer } from "node:buffer";
import { LF, RECORD_SEPARATOR } from "../../../lib/text/ascii.ts";
import { afterMark, afterWhite } from "../../../lib/text/long-text.ts";
import { FormatError } from "../format.ts";
import { KeptBytes, type ParsedValue, UNREADABLE, ValueWalk } from "./value-walk.ts";

/** A JSON text among others. */
export interface JsonRecord extends ParsedValue {
  /** From 1; of lines, blank ones count. */
  readonly number: number;
}

/**
 * Cuts a text that comes in pieces into its records, each a JSON text: lines, or where it begins with a record
 * separator what lies between those (RFC 8142). Blank ones are left out. A record is what lies between two
 * separators whatever it holds, so one that is broken off costs itself alone.
 */
export class RecordCutter {
  readonly #kept = new KeptBytes();
  readonly #walk = new ValueWalk();
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;
  #separator = 0;
  /** Of the record that comes next. */
  #number = 1;
  #isOpen = false;

  /** What comes next of the text; all records of what came before must have been taken. */
  push({ buffer, byteOffset, byteLength }: Uint8Array): void {
    this.#piece = Buffer.from(buffer, byteOffset, byteLength);
    this.#at = 0;
    if (this.#separator === 0 && byteLength > 0) this.#begin();
  }

  /** Null where more must be pushed first. */
  next(): JsonRecord | null {
    while (this.#at < this.#piece.length) {
      if (!this.#isOpen && this.#piece[this.#at] === this.#separator) {
        this.#passEmpty();
        continue;
      }
      if (!this.#isOpen) this.#kept.begin(this.#at, true);
      this.#isOpen = true;
      const end = this.#piece.indexOf(this.#separator, this.#at);
      if (end < 0) {
        this.#kept.suspend(this.#piece);
        this.#at = this.#piece.length;
        break;
      }
      this.#at = end + 1;
      const record = this.#close(end);
      if (record !== null) return record;
    }
    return null;
  }

  /** Nothing more follows; the last record may end with the text. Throws a `FormatError` where that ends within it. */
  last(): JsonRecord | null {
    if (!this.#isOpen) return null;
    const record = this.#close(0);
    if (record?.fault === "unreadable")
      throw new FormatError(
        `the file ends in the middle of ${this.#unit} ${record.number.toLocaleString("en-US")}`,
      );
    return record;
  }

  get #unit(): string {
    return this.#separator === LF ? "line" : "record";
  }

  #begin(): void {
    this.#separator = this.#piece[0] === RECORD_SEPARATOR ? RECORD_SEPARATOR : LF;
    if (this.#separator === RECORD_SEPARATOR) this.#at = 1;
  }

  /** A file may be nothing but line ends: made into a view each, they would take most of a gigabyte. */
  #passEmpty(): void {
    this.#at++;
    this.#number++;
  }

  #close(end: number): JsonRecord | null {
    this.#isOpen = false;
    const number = this.#number++;
    const bytes = this.#kept.bytes(this.#piece, end);
    if (bytes === null) return { number, value: undefined, fault: "too_large" };
    const start = afterWhite(bytes, number === 1 ? afterMark(bytes, 0) : 0, bytes.length);
    return start === bytes.length ? null : { number, ...this.#parse(bytes, start) };
  }

  /**
   * A record is walked over first, since parsers take long for what is nothing but brackets. A number or word alone,
   * whose end nothing shows, counts as broken off: nobody writes positions so.
   */
  #parse(bytes: Buffer, start: number): ParsedValue {
    const piece = { bytes, offset: 0 };
    try {
      this.#walk.begin(piece, start, true);
      const end = this.#walk.walk(piece, start);
      const isWhole = end >= 0 && afterWhite(bytes, end, bytes.length) === bytes.length;
      return isWhole ? this.#walk.parse(piece, end) : UNREADABLE;
    } catch (error) {
      if (error instanceof FormatError) return UNREADABLE;
      throw error;
    }
  }
}
