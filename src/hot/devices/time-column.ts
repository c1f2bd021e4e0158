import { PAGE_MASK, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";
import { makePageRoom } from "../../lib/tables/pages.ts";

const NEVER_MS = Number.NEGATIVE_INFINITY;

/** An instant of each device, by its number; -Infinity where none is set. No memory is taken before the first is. */
export class TimeColumn {
  readonly #pages: (Float64Array | undefined)[] = [];

  of(device: number): number {
    const page = this.#pages[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    return page !== undefined && at < page.length ? page[at]! : NEVER_MS;
  }

  set(device: number, timestampMs: number): void {
    let page = this.#pages[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    if (page === undefined || at >= page.length) page = makePageRoom(this.#pages, device, createPage);
    page[at] = timestampMs;
  }
}

function createPage(length: number): Float64Array {
  return new Float64Array(length).fill(NEVER_MS);
}
