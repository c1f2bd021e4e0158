import { assert } from "../../lib/assert.ts";
import { hashTuple } from "../../lib/tables/hash.ts";
import { END, HashChains } from "../../lib/tables/hash-chains.ts";
import { NumberPool, PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";

// A tuple is a row of 32-bit cells in a page of such rows: | 0 if removed, else 1 + reference count | member ... |
const COUNT = 0;
const FIRST_MEMBER = 1;

const GONE = 0;
const NAMED_BY_NONE = 1;
export const NO_TUPLE = -1;

/**
 * Stores distinct tuples of numbers, each once under a number, with a reference count. A tuple without references stays
 * until `collect()`, so a caller may find tuples first and retain them later. The number of a removed tuple stays
 * unused until `reuse()`.
 */
export class CountedTuples {
  /** Members of a tuple. */
  readonly width: number;
  readonly #stride: number;
  readonly #pool = new NumberPool();
  readonly #pages: (Uint32Array | undefined)[] = [];
  readonly #chains = new HashChains();
  /** Tuples that may have no references. */
  #loose: number[] = [];
  /** Numbers of removed tuples, until `reuse()`. */
  #retired: number[] = [];
  /** The tuple of the last `add()`: neighbours are often alike. */
  #last = NO_TUPLE;

  constructor(width: number) {
    this.width = width;
    this.#stride = FIRST_MEMBER + width;
  }

  get size(): number {
    return this.#chains.size;
  }

  get retiredCount(): number {
    return this.#retired.length;
  }

  at(tuple: number, member: number): number {
    return this.#pageOf(tuple)[this.#start(tuple) + FIRST_MEMBER + member]!;
  }

  /** The cells that contain the members of a tuple, side by side from `startOf()` on. */
  cellsOf(tuple: number): Uint32Array {
    return this.#pageOf(tuple);
  }

  startOf(tuple: number): number {
    return this.#start(tuple) + FIRST_MEMBER;
  }

  /** Writes the members of a tuple to `out`. */
  read(tuple: number, out: Uint32Array): void {
    const page = this.#pageOf(tuple);
    const start = this.#start(tuple) + FIRST_MEMBER;
    for (let m = 0; m < this.width; m++) out[m] = page[start + m]!;
  }

  /** The number of a tuple. A new one is copied, and `onNew` is called with its members. */
  add(members: Uint32Array, onNew: (members: Uint32Array) => void): number {
    if (this.#last !== NO_TUPLE && this.#isSame(this.#last, members)) return this.#last;
    const hash = hashTuple(members, 0, this.width);
    let link = this.#chains.find(this.#chains.chainOf(hash), hash);
    while (link !== END && !this.#isSame(link - 1, members))
      link = this.#chains.find(this.#chains.after(link), hash);
    if (link === END) {
      this.#last = this.#append(members, hash);
      onNew(members);
    } else this.#last = link - 1;
    return this.#last;
  }

  retain(tuple: number): void {
    const page = this.#pageOf(tuple);
    const at = this.#start(tuple) + COUNT;
    assert(page[at] !== GONE, "a tuple is retained before it is removed");
    page[at]!++;
  }

  release(tuple: number): void {
    const page = this.#pageOf(tuple);
    const at = this.#start(tuple) + COUNT;
    assert(page[at]! > NAMED_BY_NONE, "a tuple is released as often as it was retained");
    if (--page[at]! === NAMED_BY_NONE) this.#loose.push(tuple);
  }

  /** Removes the tuples without references and calls `onGone` with the members of each. */
  collect(onGone: (members: Uint32Array) => void): void {
    if (this.#loose.length === 0) return;
    const members = new Uint32Array(this.width);
    for (const tuple of this.#loose) {
      const page = this.#pageOf(tuple);
      const at = this.#start(tuple) + COUNT;
      if (page[at] !== NAMED_BY_NONE) continue; // Retained again, or listed twice and already removed.
      this.#chains.remove(tuple);
      page[at] = GONE;
      this.#retired.push(tuple);
      this.read(tuple, members);
      onGone(members);
    }
    this.#loose = [];
    this.#last = NO_TUPLE;
  }

  /** Allows the numbers of removed tuples to be used again. */
  reuse(): void {
    for (const tuple of this.#retired) {
      if (this.#pool.giveBack(tuple)) this.#pages[tuple >>> PAGE_SHIFT] = undefined;
    }
    this.#retired = [];
  }

  #pageOf(tuple: number): Uint32Array {
    return this.#pages[tuple >>> PAGE_SHIFT]!;
  }

  #start(tuple: number): number {
    return (tuple & PAGE_MASK) * this.#stride;
  }

  #isSame(tuple: number, members: Uint32Array): boolean {
    const page = this.#pageOf(tuple);
    const start = this.#start(tuple) + FIRST_MEMBER;
    for (let m = 0; m < this.width; m++) if (page[start + m] !== members[m]) return false;
    return true;
  }

  #append(members: Uint32Array, hash: number): number {
    const tuple = this.#pool.take();
    this.#pages[tuple >>> PAGE_SHIFT] ??= new Uint32Array(PAGE_NUMBERS * this.#stride);
    const page = this.#pageOf(tuple);
    const start = this.#start(tuple);
    page[start + COUNT] = NAMED_BY_NONE;
    for (let m = 0; m < this.width; m++) page[start + FIRST_MEMBER + m] = members[m]!;
    this.#loose.push(tuple);
    this.#chains.add(tuple, hash);
    return tuple;
  }
}
