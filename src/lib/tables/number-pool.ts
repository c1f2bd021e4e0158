/** Numbers per page. Data by number lies in arrays of this length. */
export const PAGE_NUMBERS = 4096;
export const PAGE_SHIFT = 12;
export const PAGE_MASK = PAGE_NUMBERS - 1;

/**
 * Assigns small numbers from 0 on, and reuses returned ones, those of the lowest page first. So the last pages become
 * empty, and owners can free the data of an empty page.
 */
export class NumberPool {
  readonly #pages: Page[] = [];
  /** No page before this one has a free number. */
  #firstWithRoom = 0;
  #size = 0;

  /** Numbers in use. */
  get size(): number {
    return this.#size;
  }

  take(): number {
    const pages = this.#pages;
    let at = this.#firstWithRoom;
    while (at < pages.length && pages[at]!.used === PAGE_NUMBERS) at++;
    this.#firstWithRoom = at;
    if (at === pages.length) pages.push({ used: 0, begun: 0, free: [] });
    const page = pages[at]!;
    page.used++;
    this.#size++;
    return (at << PAGE_SHIFT) + (page.free.pop() ?? page.begun++);
  }

  /** Returns a number to the pool. True if no number of its page is in use any more. */
  giveBack(number: number): boolean {
    const at = number >>> PAGE_SHIFT;
    const page = this.#pages[at]!;
    page.used--;
    this.#size--;
    if (at < this.#firstWithRoom) this.#firstWithRoom = at;
    if (page.used > 0) {
      page.free.push(number & PAGE_MASK);
      return false;
    }
    page.begun = 0;
    page.free = [];
    return true;
  }
}

interface Page {
  /** Numbers in use. */
  used: number;
  /** Numbers from this one on were not used since the page was last empty. */
  begun: number;
  /** Returned numbers, all below `begun`. */
  free: number[];
}
