import { PAGE_MASK, PAGE_SHIFT } from "./number-pool.ts";
import { makePageRoom } from "./pages.ts";

const NONE = Number.NEGATIVE_INFINITY;

/** Numbers by index; each begins as -Infinity, and a page takes no memory before one of it is set. */
export class FloatColumn {
  readonly #pages: (Float64Array | undefined)[] = [];

  of(index: number): number {
    const page = this.#pages[index >>> PAGE_SHIFT];
    const at = index & PAGE_MASK;
    return page !== undefined && at < page.length ? page[at]! : NONE;
  }

  set(index: number, value: number): void {
    let page = this.#pages[index >>> PAGE_SHIFT];
    const at = index & PAGE_MASK;
    if (page === undefined || at >= page.length) page = makePageRoom(this.#pages, index, createPage);
    page[at] = value;
  }
}

function createPage(length: number): Float64Array {
  return new Float64Array(length).fill(NONE);
}
