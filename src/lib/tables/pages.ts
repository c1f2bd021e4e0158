import { PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "./number-pool.ts";

/** Arrays of numbers in pages: no more than a page is ever copied at once, however many numbers there are. */

type Page = Uint8Array | Uint16Array | Int32Array | Uint32Array | Float64Array;

/**
 * Makes room for the number at an index, which its page lacks, and returns the page. Most arrays are short, so the
 * first page doubles until it is full; every other page has its full length from the start.
 */
export function makePageRoom<P extends Page>(
  pages: (P | undefined)[],
  index: number,
  create: (length: number) => P,
): P {
  const number = index >>> PAGE_SHIFT;
  const known = pages[number];
  const doubled = Math.max((index & PAGE_MASK) + 1, 2 * (known?.length ?? 0));
  const page = create(number === 0 ? Math.min(PAGE_NUMBERS, doubled) : PAGE_NUMBERS);
  if (known !== undefined) page.set(known);
  pages[number] = page;
  return page;
}
