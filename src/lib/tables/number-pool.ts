/** Numbers of a page: what is kept by number lies in arrays of this length. */
export const PAGE_NUMBERS = 4096;
export const PAGE_SHIFT = 12;
export const PAGE_MASK = PAGE_NUMBERS - 1;

/**
 * Hands out small numbers from 0 on, and those again that were given back, of the lowest page first: so pages at the
 * end run empty, and whoever keeps something by number can drop what belongs to them.
 */
export class NumberPool {
  readonly #pages: Page[] = [];
  /** No page before this one has a free number. */
  #firstWithRoom = 0;
  #size = 0;

  /** Numbers that are out. */
  get size(): number {
    return this.#size;
  }

  take(): number {
    const pages = this.#pages;
    let at = this.#firstWithRoom;
    while (at < pages.length && pages[at]!.taken === PAGE_NUMBERS) at++;
    this.#firstWithRoom = at;
    if (at === pages.length) pages.push({ taken: 0, begun: 0, free: [] });
    const page = pages[at]!;
    page.taken++;
    this.#size++;
    return (at << PAGE_SHIFT) + (page.free.pop() ?? page.begun++);
  }

  /** Takes a number back; true where no number of its page is out any more. */
  giveBack(number: number): boolean {
    const at = number >>> PAGE_SHIFT;
    const page = this.#pages[at]!;
    page.taken--;
    this.#size--;
    if (at < this.#firstWithRoom) this.#firstWithRoom = at;
    if (page.taken > 0) {
      page.free.push(number & PAGE_MASK);
      return false;
    }
    page.begun = 0;
    page.free = [];
    return true;
  }
}

interface Page {
  /** Numbers that are out. */
  taken: number;
  /** Numbers from this one on were never out since the page was empty. */
  begun: number;
  /** Numbers before it that were given back. */
  free: number[];
}
