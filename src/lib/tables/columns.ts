import { PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "./number-pool.ts";

// Growing columns of numbers. A short column is one array in a field of its owner, which doubles it with `grown()`;
// loops use the array itself. A column by device number may be long, so it consists of pages: only one page at a time
// is copied.
//
// Each kind of page has a class of its own. A common class was eight times as slow in Bun, which compiles a method once
// for all kinds of array that it meets.

type Numbers = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array;

/** A copy of the array followed by zeros, at least twice as long, and at least `lengthMin`. */
export function grown<Column extends Numbers>(column: Column, lengthMin = 0): Column {
  const create = column.constructor as new (length: number) => Column;
  const longer = new create(Math.max(lengthMin, 2 * column.length));
  longer.set(column);
  return longer;
}

/**
 * Extends the page of an index to include it. Returns the page. Most columns are short, so the first page doubles until
 * it is full; all others have their full length from the start.
 */
export function makePageRoom<Page extends Numbers>(
  pages: (Page | undefined)[],
  index: number,
  create: (length: number) => Page,
): Page {
  const number = index >>> PAGE_SHIFT;
  const known = pages[number];
  const doubled = Math.max((index & PAGE_MASK) + 1, 2 * (known?.length ?? 0));
  const page = create(number === 0 ? Math.min(PAGE_NUMBERS, doubled) : PAGE_NUMBERS);
  if (known !== undefined) page.set(known);
  pages[number] = page;
  return page;
}

/** Integers from 0 to 2³² - 1, by index, initially 0. A page takes no memory until one of its numbers is set. */
export class NumberColumn {
  readonly #pages: (Uint32Array | undefined)[] = [];

  of(index: number): number {
    const page = this.#pages[index >>> PAGE_SHIFT];
    const at = index & PAGE_MASK;
    return page !== undefined && at < page.length ? page[at]! : 0;
  }

  set(index: number, value: number): void {
    let page = this.#pages[index >>> PAGE_SHIFT];
    const at = index & PAGE_MASK;
    if (page === undefined || at >= page.length) page = makePageRoom(this.#pages, index, createZeros);
    page[at] = value;
  }
}

function createZeros(length: number): Uint32Array {
  return new Uint32Array(length);
}

/** Like `NumberColumn`, but for doubles, initially -Infinity. */
export class FloatColumn {
  readonly #pages: (Float64Array | undefined)[] = [];

  of(index: number): number {
    const page = this.#pages[index >>> PAGE_SHIFT];
    const at = index & PAGE_MASK;
    return page !== undefined && at < page.length ? page[at]! : Number.NEGATIVE_INFINITY;
  }

  set(index: number, value: number): void {
    let page = this.#pages[index >>> PAGE_SHIFT];
    const at = index & PAGE_MASK;
    if (page === undefined || at >= page.length) page = makePageRoom(this.#pages, index, createLeast);
    page[at] = value;
  }
}

function createLeast(length: number): Float64Array {
  return new Float64Array(length).fill(Number.NEGATIVE_INFINITY);
}
