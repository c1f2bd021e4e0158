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
import { DEPTH_MAX, type ParsedValue, type Piece, ValueWalk } from "./value-walk.ts";

/** What is cut out of a JSON text, whose outermost value is an object or a list. */
export interface Wanted {
  /** Members of the object that hold lists of things, each thing a value by itself. */
  readonly lists?: readonly string[];
  /** Members of the object that are values by themselves. */
  readonly members?: readonly string[];
  /** Whether the text itself may be a list of things. */
  readonly isList?: boolean;
  /** Values within each other that are wanted of each; deeper ones are taken for empty, and not built. */
  readonly depth?: number;
}

/** A value that was cut out. */
export interface Cut extends ParsedValue {
  /** The member which it is, or in whose list it is; null in a list that is the whole text. */
  readonly member: string | null;
  /** Where it begins, in bytes from the start of the text. */
  readonly offset: number;
}

/** What the next byte may be, of those that are not white. */
type Expected = "start" | "name" | "colon" | "value" | "thing" | "nothing";

/**
 * Cuts values out of a JSON text that comes in pieces, and parses each by itself, so that a text of any size takes the
 * memory of one value. What nobody wants is walked over. A value that is no JSON costs itself alone, as long as its
 * brackets tell where it ends; commas too many or too few in a list cost nothing.
 */
export class JsonCutter {
  readonly #wanted: Required<Wanted>;
  readonly #walk: ValueWalk;
  #piece: Piece = { bytes: Buffer.alloc(0), offset: 0 };
  #at = 0;
  #expected: Expected = "start";
  /** What follows the value that is being walked over; null between values. */
  #after: "name" | "colon" | "thing" | null = null;
  /** Of the value that is being walked over, or that comes next. */
  #member: string | null = null;
  #isWanted = false;
  #valueOffset = 0;

  constructor(wanted: Wanted) {
    this.#wanted = { lists: [], members: [], isList: false, depth: DEPTH_MAX, ...wanted };
    this.#walk = new ValueWalk(this.#wanted.depth);
  }

  /** What comes next of the text; all cuts of what came before must have been taken. */
  push({ buffer, byteOffset, byteLength }: Uint8Array): void {
    const { bytes, offset } = this.#piece;
    this.#piece = { bytes: Buffer.from(buffer, byteOffset, byteLength), offset: offset + bytes.length };
    this.#at = 0;
  }

  /** Null where more must be pushed first. Throws a `FormatError` where nothing behind can be told. */
  next(): Cut | null {
    const { bytes } = this.#piece;
    while (this.#at < bytes.length) {
      if (this.#after === null) this.#step(bytes[this.#at]!);
      else {
        const cut = this.#walkOn();
        if (cut !== null) return cut;
      }
    }
    return null;
  }

  /** Nothing more follows. Throws a `FormatError` where something should have. */
  end(): void {
    if (this.#expected !== "nothing") throw this.#error("the file ends in the middle,");
  }

  #walkOn(): Cut | null {
    const piece = this.#piece;
    const end = this.#walk.walk(piece, this.#at);
    this.#at = end < 0 ? piece.bytes.length : end;
    if (end < 0) return null;
    this.#expected = this.#after!;
    this.#after = null;
    if (!this.#isWanted) return null;
    const { value, fault } = this.#walk.parse(piece, end);
    if (this.#expected !== "colon") return { member: this.#member, offset: this.#valueOffset, value, fault };
    this.#member = typeof value === "string" ? value : null;
    return null;
  }

  /** Goes on by a byte between values, or begins a value with it. */
  #step(byte: number): void {
    if (isWhite(byte)) this.#at++;
    else if (this.#expected === "thing") this.#stepInList(byte);
    else if (this.#expected === "name") this.#stepInObject(byte);
    else if (this.#expected === "value") this.#stepAtValue(byte);
    else if (this.#expected === "colon") {
      if (byte !== COLON) throw this.#error("a colon is missing");
      this.#goOn("value");
    } else if (this.#expected === "start") this.#start(byte);
    else throw this.#error("the file goes on behind its end");
  }

  #start(byte: number): void {
    if (byte === OPEN_BRACE) this.#goOn("name");
    else if (byte === OPEN_BRACKET) {
      this.#isWanted = this.#wanted.isList;
      this.#goOn("thing");
    } else if (byte === BYTE_ORDER_MARK[this.#piece.offset + this.#at]) this.#at++;
    else throw this.#error("neither an object nor a list begins");
  }

  #stepInObject(byte: number): void {
    if (byte === CLOSE_BRACE) this.#goOn("nothing");
    else if (byte === COMMA) this.#at++;
    else if (byte === QUOTE) {
      this.#isWanted = true;
      this.#begin("colon");
    } else throw this.#error("no name begins");
  }

  #stepAtValue(byte: number): void {
    if (NO_VALUE.has(byte)) throw this.#error("a value is missing");
    const name = this.#member ?? "";
    const isList = byte === OPEN_BRACKET && this.#wanted.lists.includes(name);
    this.#isWanted = isList || this.#wanted.members.includes(name);
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
    this.#valueOffset = this.#piece.offset + this.#at;
    this.#walk.begin(this.#piece, this.#at, this.#isWanted);
  }

  #error(what: string): FormatError {
    const offset = this.#piece.offset + this.#at;
    return new FormatError(`${what} at byte ${offset.toLocaleString("en-US")}`);
  }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const NO_VALUE = new Set([COMMA, COLON, CLOSE_BRACKET, CLOSE_BRACE]);

function isWhite(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
