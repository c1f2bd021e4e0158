import { mergedRows } from "./row-order.ts";

/** Numbers within names count as numbers: `bus 9` before `bus 10`. Creating a collator is slower than using one. */
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** The alphabetical rank of every name. Since comparing names is slow, only new names are sorted. */
export class NameOrder {
  #sorted = new Uint32Array(0);
  #ranks = new Uint32Array(0);

  /** Returns the rank of each name. `names` must begin with the names of the previous call. */
  ranksOf(names: readonly string[]): Uint32Array {
    const known = this.#sorted.length;
    if (names.length === known) return this.#ranks;
    const compare = (rowA: number, rowB: number) =>
      COLLATOR.compare(names[rowA]!, names[rowB]!) || rowA - rowB;
    // Sorting 200,000 names calls the collator 17 times for each; if they are nearly sorted, once.
    const added = roughlySorted(names, known).sort(compare);
    this.#sorted = mergedRows(this.#sorted, added, compare);
    this.#ranks = new Uint32Array(names.length);
    for (let rank = 0; rank < names.length; rank++) this.#ranks[this.#sorted[rank]!] = rank;
    return this.#ranks;
  }

  clear(): void {
    this.#sorted = new Uint32Array(0);
    this.#ranks = new Uint32Array(0);
  }
}

/** A double represents eight units of six bits exactly. */
const NUMBER_UNITS = 8;
const UNIT_SIZE = 64;
const KEY_NUMBERS = 2;

/** Ranges of units: punctuation and digits, the length of a number, letters, other characters. 0 fills the rest. */
const SIGN_MAX = 15;
const COUNTS_FROM = 16;
const COUNT_MAX = 15;
const LETTERS_FROM = 32;
const OTHERS = 63;

const ZERO = "0".charCodeAt(0);
const NINE = "9".charCodeAt(0);
const LETTER_A = "a".charCodeAt(0);
const LETTER_Z = "z".charCodeAt(0);
const CASE_BIT = 32;
const ASCII_MAX = 127;

/**
 * Sorts the rows from `first` on approximately by name. It compares two numbers for each row, which takes a tenth of
 * the time of a collator. Numbers within names count as numbers, and case is ignored.
 */
export function roughlySorted(names: readonly string[], first: number): number[] {
  const start = commonPrefixLength(names, first);
  const keys = new Float64Array(names.length * KEY_NUMBERS);
  for (let row = first; row < names.length; row++) writeKey(names[row]!, start, keys, row * KEY_NUMBERS);
  return Array.from({ length: names.length - first }, (_, index) => first + index).sort((rowA, rowB) => {
    const [a, b] = [rowA * KEY_NUMBERS, rowB * KEY_NUMBERS];
    return keys[a]! - keys[b]! || keys[a + 1]! - keys[b + 1]!;
  });
}

/** Writes the beginning of a name, from `start` on, as two numbers. */
function writeKey(name: string, start: number, keys: Float64Array, at: number): void {
  let next = start;
  let digits = 0;
  for (let index = 0; index < KEY_NUMBERS * NUMBER_UNITS; index++) {
    const code = name.charCodeAt(next); // NaN after the end.
    let unit = 0;
    if (isDigit(code) && digits === 0) {
      while (isDigit(name.charCodeAt(next + digits))) digits++;
      unit = COUNTS_FROM + Math.min(digits, COUNT_MAX);
    } else if (next < name.length) {
      unit = unitOf(code);
      digits = Math.max(0, digits - 1);
      next++;
    }
    const part = at + Math.floor(index / NUMBER_UNITS);
    keys[part] = keys[part]! * UNIT_SIZE + unit;
  }
}

function unitOf(code: number): number {
  const small = code | CASE_BIT;
  if (code > ASCII_MAX) return OTHERS;
  if (small >= LETTER_A && small <= LETTER_Z) return LETTERS_FROM + small - LETTER_A;
  return isDigit(code) ? code - ZERO : code & SIGN_MAX;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** The length of the common prefix of the names from `first` on, which does not affect their order. */
function commonPrefixLength(names: readonly string[], first: number): number {
  let prefix = names[first] ?? "";
  for (let row = first; row < names.length; row++)
    while (!names[row]!.startsWith(prefix)) prefix = prefix.slice(0, -1);
  return prefix.length;
}
