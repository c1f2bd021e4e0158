import { Buffer } from "node:buffer";
import { LF, RECORD_SEPARATOR } from "../../../lib/text/ascii.ts";
import { afterMark, afterWhite } from "../../../lib/text/long-text.ts";
import { FormatError } from "../format.ts";
import { type ParsedValue, UNREADABLE, ValueBytes, ValueWalk } from "./value-walk.ts";

/** One of several JSON texts. */
export interface JsonRecord extends ParsedValue {
  /** From 1. Blank lines count. */
  readonly number: number;
}

/**
 * Cuts a text that arrives in chunks into records, each a JSON text: lines, or, if it begins with a record separator,
 * the texts between those (RFC 8142). Blank ones are skipped. Only separators end a record, so a record that is cut off
 * is lost alone.
 */
export class RecordCutter {
  readonly #bytes = new ValueBytes();
  readonly #walk = new ValueWalk();
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #separator = 0;
  /** The number of the next record. */
  #number = 1;
  #isOpen = false;

  /** Adds the next chunk. All records of the former chunk must have been taken. */
  push({ buffer, byteOffset, byteLength }: Uint8Array): void {
    this.#chunk = Buffer.from(buffer, byteOffset, byteLength);
    this.#at = 0;
    if (this.#separator === 0 && byteLength > 0) this.#begin();
  }

  /** Returns null if another chunk is needed. */
  next(): JsonRecord | null {
    while (this.#at < this.#chunk.length) {
      if (!this.#isOpen && this.#chunk[this.#at] === this.#separator) {
        this.#passEmpty();
        continue;
      }
      if (!this.#isOpen) this.#bytes.begin(this.#at, true);
      this.#isOpen = true;
      const end = this.#chunk.indexOf(this.#separator, this.#at);
      if (end < 0) {
        this.#bytes.suspend(this.#chunk);
        this.#at = this.#chunk.length;
        break;
      }
      this.#at = end + 1;
      const record = this.#close(end);
      if (record !== null) return record;
    }
    return null;
  }

  /** Ends the text and returns its last record. Throws a `FormatError` if that is incomplete. */
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
    this.#separator = this.#chunk[0] === RECORD_SEPARATOR ? RECORD_SEPARATOR : LF;
    if (this.#separator === RECORD_SEPARATOR) this.#at = 1;
  }

  /** A file may consist of line ends: a view of each would take most of a gigabyte. */
  #passEmpty(): void {
    this.#at++;
    this.#number++;
  }

  #close(end: number): JsonRecord | null {
    this.#isOpen = false;
    const number = this.#number++;
    const bytes = this.#bytes.upTo(this.#chunk, end);
    if (bytes === null) return { number, value: undefined, fault: "too_large" };
    const start = afterWhite(bytes, number === 1 ? afterMark(bytes, 0) : 0, bytes.length);
    return start === bytes.length ? null : { number, ...this.#parse(bytes, start) };
  }

  /**
   * Scans the record before parsing it, since parsers are slow on nested brackets. A bare number or word counts as cut
   * off, since nothing shows its end, and no program writes positions like that.
   */
  #parse(bytes: Buffer, start: number): ParsedValue {
    const chunk = { bytes, offset: 0 };
    try {
      this.#walk.begin(chunk, start, true);
      const end = this.#walk.walk(chunk, start);
      const isWhole = end >= 0 && afterWhite(bytes, end, bytes.length) === bytes.length;
      return isWhole ? this.#walk.parse(chunk, end) : UNREADABLE;
    } catch (error) {
      if (error instanceof FormatError) return UNREADABLE;
      throw error;
    }
  }
}
