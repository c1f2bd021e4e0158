import { Buffer } from "node:buffer";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "../../../lib/text/ascii.ts";
import { FormatError } from "../format.ts";
import { type Chunk, DEPTH_MAX, type ParsedValue, ValueWalk } from "./value-walk.ts";

/** Which values to cut out of a JSON text, whose outermost value is an object or a list. */
export interface JsonSelection {
  /** Members with lists, each element of which is a value. */
  readonly lists?: readonly string[];
  /** Members that are values by themselves. */
  readonly members?: readonly string[];
  /** Whether the text itself may be a list of values. */
  readonly isList?: boolean;
  /** How many levels of each value are built; deeper ones count as empty. */
  readonly depth?: number;
}

export interface Cut extends ParsedValue {
  /** The member that is or contains the value; null in a list that is the whole text. */
  readonly member: string | null;
  /** The byte offset of the value in the text. */
  readonly offset: number;
}

/** What the next byte that is not white space may be. */
type Expected = "start" | "name" | "colon" | "value" | "thing" | "nothing";

/**
 * Cuts values out of a JSON text that arrives in chunks, and parses each by itself, so that a text of any size takes
 * the memory of one value. Other values are skipped. A value that is invalid JSON is lost alone, as long as its
 * brackets show where it ends; extra or missing commas in a list don't matter.
 */
export class JsonCutter {
  readonly #selection: Required<JsonSelection>;
  readonly #walk: ValueWalk;
  #chunk: Chunk = { bytes: Buffer.alloc(0), offset: 0 };
  #at = 0;
  #expected: Expected = "start";
  /** What follows the value that is being scanned; null between values. */
  #after: "name" | "colon" | "thing" | null = null;
  /** The member of the current or next value. */
  #member: string | null = null;
  #isSelected = false;
  #valueOffset = 0;

  constructor(selection: JsonSelection) {
    this.#selection = { lists: [], members: [], isList: false, depth: DEPTH_MAX, ...selection };
    this.#walk = new ValueWalk(this.#selection.depth);
  }

  /** Adds the next chunk of the text. All cuts of the former chunk must have been taken. */
  push({ buffer, byteOffset, byteLength }: Uint8Array): void {
    const { bytes, offset } = this.#chunk;
    this.#chunk = { bytes: Buffer.from(buffer, byteOffset, byteLength), offset: offset + bytes.length };
    this.#at = 0;
  }

  /** Returns null if another chunk is needed. Throws a `FormatError` if the rest can't be read. */
  next(): Cut | null {
    const { bytes } = this.#chunk;
    while (this.#at < bytes.length) {
      if (this.#after === null) this.#step(bytes[this.#at]!);
      else {
        const cut = this.#walkOn();
        if (cut !== null) return cut;
      }
    }
    return null;
  }

  /** Ends the text. Throws a `FormatError` if it is incomplete. */
  end(): void {
    if (this.#expected !== "nothing") throw this.#error("the file is cut off");
  }

  #walkOn(): Cut | null {
    const chunk = this.#chunk;
    const end = this.#walk.walk(chunk, this.#at);
    this.#at = end < 0 ? chunk.bytes.length : end;
    if (end < 0) return null;
    this.#expected = this.#after!;
    this.#after = null;
    if (!this.#isSelected) return null;
    const { value, fault } = this.#walk.parse(chunk, end);
    if (this.#expected !== "colon") return { member: this.#member, offset: this.#valueOffset, value, fault };
    this.#member = typeof value === "string" ? value : null;
    return null;
  }

  /** Handles a byte between values, or begins a value with it. */
  #step(byte: number): void {
    if (isWhite(byte)) this.#at++;
    else if (this.#expected === "thing") this.#stepInList(byte);
    else if (this.#expected === "name") this.#stepInObject(byte);
    else if (this.#expected === "value") this.#stepAtValue(byte);
    else if (this.#expected === "colon") {
      if (byte !== COLON) throw this.#error("a colon is missing");
      this.#goOn("value");
    } else if (this.#expected === "start") this.#start(byte);
    else throw this.#error("the file continues after its end");
  }

  #start(byte: number): void {
    if (byte === OPEN_BRACE) this.#goOn("name");
    else if (byte === OPEN_BRACKET) {
      this.#isSelected = this.#selection.isList;
      this.#goOn("thing");
    } else if (byte === BYTE_ORDER_MARK[this.#chunk.offset + this.#at]) this.#at++;
    else throw this.#error("neither an object nor a list begins");
  }

  #stepInObject(byte: number): void {
    if (byte === CLOSE_BRACE) this.#goOn("nothing");
    else if (byte === COMMA) this.#at++;
    else if (byte === QUOTE) {
      this.#isSelected = true;
      this.#begin("colon");
    } else throw this.#error("no name begins");
  }

  #stepAtValue(byte: number): void {
    if (NO_VALUE.has(byte)) throw this.#error("a value is missing");
    const name = this.#member ?? "";
    const isList = byte === OPEN_BRACKET && this.#selection.lists.includes(name);
    this.#isSelected = isList || this.#selection.members.includes(name);
    if (isList) this.#goOn("thing");
    else this.#begin("name");
  }

  #stepInList(byte: number): void {
    if (byte === CLOSE_BRACKET) this.#goOn(this.#member === null ? "nothing" : "name");
    else if (byte === COMMA || byte === COLON) this.#at++;
    else if (byte === CLOSE_BRACE) throw this.#error("a brace closes a list");
    else this.#begin("thing");
  }

  #goOn(expected: Expected): void {
    this.#expected = expected;
    this.#at++;
  }

  #begin(after: "name" | "colon" | "thing"): void {
    this.#after = after;
    this.#valueOffset = this.#chunk.offset + this.#at;
    this.#walk.begin(this.#chunk, this.#at, this.#isSelected);
  }

  #error(what: string): FormatError {
    const offset = this.#chunk.offset + this.#at;
    return new FormatError(`${what} at byte ${offset.toLocaleString("en-US")}`);
  }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const NO_VALUE = new Set([COMMA, COLON, CLOSE_BRACKET, CLOSE_BRACE]);

function isWhite(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
