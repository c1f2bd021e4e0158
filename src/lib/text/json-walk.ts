/*
 * Walks a JSON text byte by byte without making anything of it, as far at a time as it is told: what a parser would
 * make of 16 MiB of brackets takes it a second in one piece, and a gigabyte. It is the pushdown automaton of RFC 8259,
 * one table of state by byte: bits that say "object" or "array" are its stack, and only the six structural characters
 * touch it. That the bytes are UTF-8 has to be checked elsewhere.
 */

/** Where the next byte stands. Strings and numbers have states of their own, made below. */
const START = 0;
const AFTER = 1; // A value has ended, and nothing else may follow but what closes, parts, or is white.
const OBJECT = 2; // After {
const NAME = 3; // After a comma in an object.
const COLON = 4;
const VALUE = 5;
const ARRAY = 6; // After [
const FIRST_FREE = 7;

/** In the table's cells from here on: what a structural character does. */
const OPEN_OBJECT = 200;
const OPEN_ARRAY = 201;
const CLOSE_OBJECT = 202;
const CLOSE_ARRAY = 203;
const COMMA = 204;
const PAIR = 205;
const WRONG = 255;

const WHITE = " \t\r\n";
const DIGITS = "0123456789";
const HEX = `${DIGITS}abcdefABCDEF`;

/** States and what each byte leads to, while they are made. */
class TableMaker {
  readonly #cells = new Uint8Array(64 * 256).fill(WRONG);
  /** States in which a number may end. */
  readonly numberEnds = new Set<number>();
  #free = FIRST_FREE;

  state(): number {
    return this.#free++;
  }

  on(from: number, characters: string, to: number): void {
    for (const character of characters) this.#cells[from * 256 + character.charCodeAt(0)] = to;
  }

  /** The inside of a text. */
  text(after: number): number {
    const [inside, escaped] = [this.state(), this.state()];
    this.#cells.fill(inside, inside * 256 + 0x20, inside * 256 + 256);
    this.on(inside, '"', after);
    this.on(inside, "\\", escaped);
    this.on(escaped, '"\\/bfnrt', inside);
    let digits = inside;
    for (let left = 4; left > 0; left--) {
      const before = this.state();
      this.on(before, HEX, digits);
      digits = before;
    }
    this.on(escaped, "u", digits);
    return inside;
  }

  word(from: number, letters: string): void {
    let at = from;
    for (const letter of letters.slice(0, -1)) {
      const next = this.state();
      this.on(at, letter, next);
      at = next;
    }
    this.on(at, letters.at(-1)!, AFTER);
  }

  afterValue(from: number): void {
    this.on(from, WHITE, AFTER);
    this.on(from, ",", COMMA);
    this.on(from, "}", CLOSE_OBJECT);
    this.on(from, "]", CLOSE_ARRAY);
  }

  /** A state in which a number may end. */
  digits(): number {
    const number = this.state();
    this.afterValue(number);
    this.numberEnds.add(number);
    return number;
  }

  /** How a number begins: where a minus leads, a zero, and any other digit. */
  number(): { readonly minus: number; readonly zero: number; readonly integer: number } {
    const [minus, zero, integer, point, fraction] = [
      this.state(),
      this.digits(),
      this.digits(),
      this.state(),
      this.digits(),
    ];
    const [exponent, sign, power] = [this.state(), this.state(), this.digits()];
    this.on(minus, "0", zero);
    this.on(minus, "123456789", integer);
    this.on(integer, DIGITS, integer);
    for (const before of [zero, integer]) this.on(before, ".", point);
    this.on(point, DIGITS, fraction);
    this.on(fraction, DIGITS, fraction);
    for (const before of [zero, integer, fraction]) this.on(before, "eE", exponent);
    this.on(exponent, "+-", sign);
    for (const before of [exponent, sign, power]) this.on(before, DIGITS, power);
    return { minus, zero, integer };
  }

  /** The cells of the states there are. */
  made(): Uint8Array {
    return this.#cells.slice(0, this.#free * 256);
  }
}

function createTable() {
  const make = new TableMaker();
  const { minus, zero, integer } = make.number();
  const [value, name] = [make.text(AFTER), make.text(COLON)];
  for (const wanted of [START, VALUE, ARRAY]) {
    make.on(wanted, WHITE, wanted);
    make.on(wanted, "{", OPEN_OBJECT);
    make.on(wanted, "[", OPEN_ARRAY);
    make.on(wanted, '"', value);
    make.on(wanted, "-", minus);
    make.on(wanted, "0", zero);
    make.on(wanted, "123456789", integer);
    for (const each of ["true", "false", "null"]) make.word(wanted, each);
  }
  make.on(ARRAY, "]", CLOSE_ARRAY);
  for (const wanted of [OBJECT, NAME]) {
    make.on(wanted, WHITE, wanted);
    make.on(wanted, '"', name);
  }
  make.on(OBJECT, "}", CLOSE_OBJECT);
  make.on(COLON, WHITE, COLON);
  make.on(COLON, ":", PAIR);
  make.afterValue(AFTER);
  return { table: make.made(), numberEnds: make.numberEnds };
}

const { table: TABLE, numberEnds: NUMBER_ENDS } = createTable();

/** What is wrong with a text: it is no JSON, or values lie in values more often than the walk was told to follow. */
export type JsonFault = "syntax" | "depth";

/**
 * Hears of what the outermost array or object holds, in order: where each value lies, and before it, in an object, its
 * name with its quotation marks. White space around both is theirs, but none of steps that saw nothing else.
 */
export type OnChild = (start: number, end: number, nameStart: number, nameEnd: number) => void;

export class JsonWalk {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #onChild: OnChild;
  readonly #depthMax: number;
  /** By depth from 1, whether it is an object. */
  readonly #isObject: Uint8Array;
  #at: number;
  #state = START;
  #depth = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #childStart = 0;
  /** From here on there is only white space, behind a name or value of the outermost; infinite before that. */
  #whiteStart = Number.POSITIVE_INFINITY;
  #fault: JsonFault | null = null;

  constructor(bytes: Uint8Array, start: number, end: number, depthMax: number, onChild: OnChild) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#depthMax = depthMax;
    this.#isObject = new Uint8Array(depthMax + 1);
    this.#onChild = onChild;
  }

  /** Walks so many bytes on, to the end at most; false once there is no more to walk, or something is wrong. */
  walk(byteCount: number): boolean {
    if (this.#depth === 1) this.#leaveWhite();
    const bytes = this.#bytes;
    const isObject = this.#isObject;
    const until = Math.min(this.#at + byteCount, this.#end);
    let state = this.#state;
    let depth = this.#depth;
    let at = this.#at;
    for (; at < until; at++) {
      const next = TABLE[(state << 8) | bytes[at]!]!;
      if (next < OPEN_OBJECT) {
        state = next;
        continue;
      }
      if (next === COMMA) {
        if (depth === 0) return this.#fail("syntax");
        if (depth === 1) this.#endChild(at);
        state = isObject[depth] === 1 ? NAME : VALUE;
      } else if (next === PAIR) {
        if (depth === 1) this.#endName(at);
        state = VALUE;
      } else if (next <= OPEN_ARRAY) {
        if (depth === this.#depthMax) return this.#fail("depth");
        if (depth === 0) this.#childStart = at + 1;
        state = next === OPEN_OBJECT ? OBJECT : ARRAY;
        isObject[++depth] = next === OPEN_OBJECT ? 1 : 0;
      } else if (next <= CLOSE_ARRAY) {
        if (depth === 0 || isObject[depth] !== (next === CLOSE_OBJECT ? 1 : 0)) return this.#fail("syntax");
        if (depth === 1 && state !== OBJECT && state !== ARRAY) this.#endChild(at);
        depth--;
        state = AFTER;
      } else {
        return this.#fail("syntax");
      }
    }
    this.#at = at;
    this.#state = state;
    this.#depth = depth;
    if (at < this.#end) return true;
    return depth === 0 && (state === AFTER || NUMBER_ENDS.has(state)) ? false : this.#fail("syntax");
  }

  /** Null where all that was walked is JSON. */
  get fault(): JsonFault | null {
    return this.#fault;
  }

  #fail(fault: JsonFault): false {
    this.#fault = fault;
    return false;
  }

  /** What is white before this step is left out of names and values: whoever trims them has steps of its own. */
  #leaveWhite(): void {
    const state = this.#state;
    if (state === AFTER || state === COLON) this.#whiteStart = Math.min(this.#whiteStart, this.#at);
    else if (state >= OBJECT && state <= ARRAY) this.#childStart = this.#at;
  }

  #endName(at: number): void {
    this.#nameStart = this.#childStart;
    this.#nameEnd = Math.min(at, this.#whiteStart);
    this.#begin(at + 1);
  }

  #endChild(at: number): void {
    this.#onChild(this.#childStart, Math.min(at, this.#whiteStart), this.#nameStart, this.#nameEnd);
    this.#begin(at + 1);
  }

  #begin(at: number): void {
    this.#childStart = at;
    this.#whiteStart = Number.POSITIVE_INFINITY;
  }
}
