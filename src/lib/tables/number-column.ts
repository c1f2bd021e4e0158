import { PAGE_MASK, PAGE_SHIFT } from "./number-pool.ts";
import { makePageRoom } from "./pages.ts";

/** Numbers from 0 to 2³² - 1 by index; each begins as 0, and a page takes no memory before another is set. */
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
    if (page === undefined || at >= page.length) page = makePageRoom(this.#pages, index, createPage);
    page[at] = value;
  }
}

function createPage(length: number): Uint32Array {
  return new Uint32Array(length);
}
