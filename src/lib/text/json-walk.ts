// Validates a JSON text byte by byte without creating values, in limited steps: a parser takes a second and a gigabyte
// for 16 MiB of brackets, in one go. It is the pushdown automaton of RFC 8259 in one table of next states by state and
// byte. Its stack is an array of flags, object or array, which only the six structural characters change. It does not
// check UTF-8.

/** States. Those within strings and numbers are numbered when the table is built. */
const START = 0;
const AFTER = 1; // After a value; only a bracket, a comma or white space may follow.
const OBJECT = 2; // After {
const NAME = 3; // After a comma in an object.
const COLON = 4;
const VALUE = 5;
const ARRAY = 6; // After [
const FIRST_FREE = 7;

/** Cells of the table from here on are actions of structural characters. */
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

/** Builds the table of next states. */
class TableBuilder {
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

  /** Adds the states within a text. */
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

  /** Adds a state in which a number may end. */
  digits(): number {
    const number = this.state();
    this.afterValue(number);
    this.numberEnds.add(number);
    return number;
  }

  /** Adds the states of a number. Returns those after a minus, after a zero, and after any other digit. */
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

  build(): Uint8Array {
    return this.#cells.slice(0, this.#free * 256);
  }
}

function createTable() {
  const table = new TableBuilder();
  const { minus, zero, integer } = table.number();
  const [value, name] = [table.text(AFTER), table.text(COLON)];
  for (const wanted of [START, VALUE, ARRAY]) {
    table.on(wanted, WHITE, wanted);
    table.on(wanted, "{", OPEN_OBJECT);
    table.on(wanted, "[", OPEN_ARRAY);
    table.on(wanted, '"', value);
    table.on(wanted, "-", minus);
    table.on(wanted, "0", zero);
    table.on(wanted, "123456789", integer);
    for (const each of ["true", "false", "null"]) table.word(wanted, each);
  }
  table.on(ARRAY, "]", CLOSE_ARRAY);
  for (const wanted of [OBJECT, NAME]) {
    table.on(wanted, WHITE, wanted);
    table.on(wanted, '"', name);
  }
  table.on(OBJECT, "}", CLOSE_OBJECT);
  table.on(COLON, WHITE, COLON);
  table.on(COLON, ":", PAIR);
  table.afterValue(AFTER);
  return { table: table.build(), numberEnds: table.numberEnds };
}

const { table: TABLE, numberEnds: NUMBER_ENDS } = createTable();

/** The text is not JSON, or its values are nested more deeply than `depthMax`. */
export type JsonFault = "syntax" | "depth";

/**
 * Called for each value in the outermost array or object, in order, with its range, and in an object with the range of
 * its name, quotes included. Ranges include surrounding white space, except that of steps with nothing else.
 */
export type OnChild = (start: number, end: number, nameStart: number, nameEnd: number) => void;

export class JsonWalk {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #onChild: OnChild;
  readonly #depthMax: number;
  /** Whether the container at each depth, from 1, is an object. */
  readonly #isObject: Uint8Array;
  #at: number;
  #state = START;
  #depth = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #childStart = 0;
  /** Where white space begins behind a name or value of the outermost container; infinite if there is none. */
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

  /** Reads on by `byteCount` bytes at most; false at the end of the text, or if it is faulty. */
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

  /** Null if all that was read is JSON. */
  get fault(): JsonFault | null {
    return this.#fault;
  }

  #fail(fault: JsonFault): false {
    this.#fault = fault;
    return false;
  }

  /**
   * Excludes white space of earlier steps from names and values, because callers trim only a limited number of bytes.
   */
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
