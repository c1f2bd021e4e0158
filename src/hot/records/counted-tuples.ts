import { assert } from "../../lib/assert.ts";
import { hashTuple } from "../../lib/tables/hash.ts";
import { END, HashChains } from "../../lib/tables/hash-chains.ts";
import { NumberPool, PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";

/*
 * A tuple is a row of 32-bit cells in a page of such rows:
 *
 *   | 0: gone, else 1 + how many name it | member ... |
 */
const COUNT = 0;
const FIRST_MEMBER = 1;

const GONE = 0;
const NAMED_BY_NONE = 1;
/** No tuple's number. */
export const NO_TUPLE = -1;

/**
 * Distinct tuples of numbers, each kept once, named by a number and gone with the last that names it. A tuple that is
 * added, or that nobody names any more, stays until `collect`, so a caller may look for what it needs first and count
 * what it keeps afterwards. The number of one that went stays unused until `reuse`.
 */
export class CountedTuples {
  /** Members of a tuple. */
  readonly width: number;
  readonly #stride: number;
  readonly #pool = new NumberPool();
  readonly #pages: (Uint32Array | undefined)[] = [];
  readonly #chains = new HashChains();
  /** Tuples that perhaps nobody names. */
  #loose: number[] = [];
  /** Numbers of tuples that are gone. */
  #retired: number[] = [];
  /** The tuple added or found last: neighbours are often alike. */
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

  /** Member `member` of a tuple. */
  at(tuple: number, member: number): number {
    return this.#pageOf(tuple)[this.#start(tuple) + FIRST_MEMBER + member]!;
  }

  /** The members of a tuple lie side by side in these cells, from `startOf` on. */
  cellsOf(tuple: number): Uint32Array {
    return this.#pageOf(tuple);
  }

  startOf(tuple: number): number {
    return this.#start(tuple) + FIRST_MEMBER;
  }

  /** Writes all members of a tuple to `out`. */
  read(tuple: number, out: Uint32Array): void {
    const page = this.#pageOf(tuple);
    const start = this.#start(tuple) + FIRST_MEMBER;
    for (let m = 0; m < this.width; m++) out[m] = page[start + m]!;
  }

  /** The number of a tuple, which is copied where it is new: then `onNew` is told its members. */
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
    assert(page[at] !== GONE, "who names a tuple finds it");
    page[at]!++;
  }

  release(tuple: number): void {
    const page = this.#pageOf(tuple);
    const at = this.#start(tuple) + COUNT;
    assert(page[at]! > NAMED_BY_NONE, "a tuple is released as often as it was retained");
    if (--page[at]! === NAMED_BY_NONE) this.#loose.push(tuple);
  }

  /** Forgets the tuples that nobody names; `onGone` is told the members of each. */
  collect(onGone: (members: Uint32Array) => void): void {
    if (this.#loose.length === 0) return;
    const members = new Uint32Array(this.width);
    for (const tuple of this.#loose) {
      const page = this.#pageOf(tuple);
      const at = this.#start(tuple) + COUNT;
      if (page[at] !== NAMED_BY_NONE) continue; // Named again, or listed twice and gone.
      this.#chains.remove(tuple);
      page[at] = GONE;
      this.#retired.push(tuple);
      this.read(tuple, members);
      onGone(members);
    }
    this.#loose = [];
    this.#last = NO_TUPLE;
  }

  /** From now on the numbers of tuples that are gone may be those of others. */
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
