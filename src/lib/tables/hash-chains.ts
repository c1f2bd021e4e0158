import { assert } from "../assert.ts";
import { makePageRoom } from "./columns.ts";
import { PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "./number-pool.ts";

/** The end of a chain. A link is the number of an item plus 1. */
export const END = 0;

const CHAINS_MIN = 16;

// The cells of an item, in a page by item number: | hash | link to the next item of its chain |
const HASH = 0;
const NEXT = 1;
const WIDTH = 2;

interface ChainPage {
  cells: Int32Array;
  /** Items on the page. */
  count: number;
}

const PAGE_INITIAL = 16;
/** Chains that are split together, so that the cache misses of their first items overlap. */
const SPLIT_CHAINS = 16;

/**
 * Finds numbered items by their hashes: a hash table with chains that grows and shrinks by some chains at a time
 * (linear hashing), so that no caller waits for millions of items to move. A `Map` takes 90 bytes per item, blocks for
 * 60 ms when it doubles at the 800,000th item, and can't overlap the cache misses of many lookups.
 */
export class HashChains {
  /** Links to the first item of each chain; only the first `#chainCount` are in use. */
  readonly #chains: Uint32Array[] = [new Uint32Array(CHAINS_MIN)];
  readonly #pages: (ChainPage | undefined)[] = [];
  /** Chains below `#split` use one more bit of the hash than `#mask` has. */
  #mask = CHAINS_MIN - 1;
  #split = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** A link to the first item of the chain for this hash, or `END`. */
  chainOf(hash: number): number {
    return this.#firstOf(this.#indexOf(hash));
  }

  /** The first link from `link` on whose item has exactly this hash, or `END`. */
  find(link: number, hash: number): number {
    let at = link;
    while (at !== END && this.hashOf(at - 1) !== hash) at = this.after(at);
    return at;
  }

  /** The link after another. */
  after(link: number): number {
    return this.#pageOf(link - 1).cells[((link - 1) & PAGE_MASK) * WIDTH + NEXT]!;
  }

  hashOf(item: number): number {
    return this.#pageOf(item).cells[(item & PAGE_MASK) * WIDTH + HASH]!;
  }

  /** Adds an item that must not be in the table. */
  add(item: number, hash: number): void {
    this.#pages[item >>> PAGE_SHIFT] ??= createPage();
    const page = this.#pageOf(item);
    const at = item & PAGE_MASK;
    if (at * WIDTH >= page.cells.length) growPage(page, at + 1);
    page.count++;
    page.cells[at * WIDTH + HASH] = hash;
    this.#size++;
    if (this.#size > this.#chainCount) this.#splitChains();
    this.#prepend(this.#indexOf(hash), item);
  }

  /** Removes an item that must be in the table. */
  remove(item: number): void {
    const chain = this.#indexOf(this.hashOf(item));
    const link = item + 1;
    const next = this.after(link);
    let before = this.#firstOf(chain);
    if (before === link) this.#setFirst(chain, next);
    else {
      while (this.after(before) !== link) before = this.after(before);
      this.#setNext(before - 1, next);
    }
    this.#size--;
    if (this.#size * 2 < this.#chainCount && this.#chainCount > CHAINS_MIN) this.#mergeChain();
    if (--this.#pageOf(item).count === 0) this.#pages[item >>> PAGE_SHIFT] = undefined;
  }

  #firstOf(chain: number): number {
    return this.#chains[chain >>> PAGE_SHIFT]![chain & PAGE_MASK]!;
  }

  #setFirst(chain: number, link: number): void {
    this.#chains[chain >>> PAGE_SHIFT]![chain & PAGE_MASK] = link;
  }

  #pageOf(item: number): ChainPage {
    return this.#pages[item >>> PAGE_SHIFT]!;
  }

  #setNext(item: number, next: number): void {
    this.#pageOf(item).cells[(item & PAGE_MASK) * WIDTH + NEXT] = next;
  }

  get #chainCount(): number {
    return this.#mask + 1 + this.#split;
  }

  #indexOf(hash: number): number {
    const chain = hash & this.#mask;
    return chain < this.#split ? hash & (this.#mask * 2 + 1) : chain;
  }

  #prepend(chain: number, item: number): void {
    this.#setNext(item, this.#firstOf(chain));
    this.#setFirst(chain, item + 1);
  }

  #splitChains(): void {
    let sum = 0;
    for (let chain = this.#split; chain < this.#split + SPLIT_CHAINS; chain++) {
      const link = chain <= this.#mask ? this.#firstOf(chain) : END;
      if (link !== END) sum += this.hashOf(link - 1);
    }
    assert(!Number.isNaN(sum), "hashes are numbers"); // Keeps compilers from removing the sum.
    for (let chain = 0; chain < SPLIT_CHAINS; chain++) this.#splitChain();
  }

  /** Adds a chain, and moves items to it from the chain whose turn it is. */
  #splitChain(): void {
    const added = this.#chainCount;
    if ((added & PAGE_MASK) >= (this.#chains[added >>> PAGE_SHIFT]?.length ?? 0))
      makePageRoom(this.#chains, added, createChains);
    let link = this.#firstOf(this.#split);
    this.#setFirst(this.#split, END);
    this.#split++;
    if (this.#split > this.#mask) {
      this.#mask = this.#mask * 2 + 1;
      this.#split = 0;
    }
    while (link !== END) {
      const item = link - 1;
      link = this.after(link);
      this.#prepend(this.#indexOf(this.hashOf(item)), item);
    }
  }

  /** Undoes the last split. */
  #mergeChain(): void {
    if (this.#split === 0) {
      this.#mask >>>= 1;
      this.#split = this.#mask + 1;
    }
    this.#split--;
    const removed = this.#chainCount;
    let link = this.#firstOf(removed);
    this.#setFirst(removed, END);
    while (link !== END) {
      const item = link - 1;
      link = this.after(link);
      this.#prepend(this.#split, item);
    }
    this.#dropChains(removed);
  }

  /** Frees memory of the chains from `first` on, which must be unused. */
  #dropChains(first: number): void {
    const page = this.#chains[first >>> PAGE_SHIFT]!;
    if (first >= PAGE_NUMBERS) {
      if ((first & PAGE_MASK) === 0) this.#chains.pop();
    } else if (first * 4 <= page.length && first > CHAINS_MIN)
      this.#chains[0] = page.slice(0, page.length / 2);
  }
}

function createChains(length: number): Uint32Array {
  return new Uint32Array(length);
}

function createPage(): ChainPage {
  return { cells: new Int32Array(PAGE_INITIAL * WIDTH), count: 0 };
}

/** Most tables are small, with one page that grows. */
function growPage(page: ChainPage, items: number): void {
  const length = WIDTH * Math.min(PAGE_NUMBERS, Math.max(items, (2 * page.cells.length) / WIDTH));
  const cells = new Int32Array(length);
  cells.set(page.cells);
  page.cells = cells;
}
