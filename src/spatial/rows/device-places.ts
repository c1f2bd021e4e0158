import { makePageRoom } from "../../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";

/** Where the rows of devices are. */

/** A row of a leaf, which may have holes beside its positions, has a number of so many bits. */
export const ROW_BITS = 10;
export const ROW_MASK = 2 ** ROW_BITS - 1;
/** A place is one number: the leaf's among all cells, and a row of it. */
export const CELLS_MAX = 2 ** (32 - ROW_BITS) - 1;
/** Of a device that was not added. */
export const NO_PLACE = -1;

/**
 * By device number, its leaf and a row there. Rows that come between make its true row a later one, which nobody notes:
 * it is looked for from here on.
 */
export class DevicePlaces {
  readonly #pages: Int32Array[] = [];

  of(device: number): number {
    const page = this.#pages[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    return page !== undefined && at < page.length ? page[at]! : NO_PLACE;
  }

  set(device: number, cell: number, row: number): void {
    let page = this.#pages[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    if (page === undefined || at >= page.length) page = makePageRoom(this.#pages, device, createPage);
    page[at] = (cell << ROW_BITS) | row;
  }

  clear(device: number): void {
    this.#pages[device >>> PAGE_SHIFT]![device & PAGE_MASK] = NO_PLACE;
  }
}

function createPage(length: number): Int32Array {
  return new Int32Array(length).fill(NO_PLACE);
}
