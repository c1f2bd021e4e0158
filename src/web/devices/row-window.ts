/*
 * Which rows of a long list are drawn: those in view, and some more above and below. Browsers cut off elements that are
 * higher than some 17 million pixels: in a list of more rows each pixel of scrolling passes several of them.
 */

/** As in list.css. */
export const ROW_PIXELS = 48;
export const WINDOW_ROWS_MAX = 40;
const MARGIN_ROWS = 6;
const LIST_PIXELS_MAX = 16_000_000;

/** How far a list of so many rows is scrolled, as the browser has it. */
export interface ListScroll {
  readonly rowCount: number;
  readonly scrollTop: number;
  /** How much of the list is seen. */
  readonly viewPixels: number;
}

export interface RowWindow {
  readonly first: number;
  readonly count: number;
  /** Where the first one stands in the list. */
  readonly top: number;
}

/** How high the list is to the browser. */
export function listPixels(rowCount: number): number {
  return Math.min(rowCount * ROW_PIXELS, LIST_PIXELS_MAX);
}

/** `drawnPixels`: how much of the list is drawn at least, which may be more than is seen. */
export function windowOf(scroll: ListScroll, drawnPixels: number): RowWindow {
  const { rowCount, viewPixels } = scroll;
  const scrollTop = Math.max(0, Math.min(scroll.scrollTop, listPixels(rowCount) - viewPixels));
  const offset = scrollTop * passedPixels(scroll);
  const inView = Math.ceil(drawnPixels / ROW_PIXELS) + 1;
  const count = Math.min(rowCount, Math.max(inView, Math.min(inView + 2 * MARGIN_ROWS, WINDOW_ROWS_MAX)));
  const above = Math.max(0, Math.floor((count - inView) / 2));
  const first = Math.max(0, Math.min(Math.floor(offset / ROW_PIXELS) - above, rowCount - count));
  return { first, count, top: scrollTop + first * ROW_PIXELS - offset };
}

/** Where to scroll to so that a row is in view. */
export function scrollTopFor(index: number, scroll: ListScroll): number {
  const passed = passedPixels(scroll);
  const top = index * ROW_PIXELS;
  const lowest = top + ROW_PIXELS - scroll.viewPixels;
  return Math.min(top / passed, Math.max(scroll.scrollTop, lowest / passed));
}

/** How many pixels of rows pass with each pixel of scrolling: one, unless the list is cut short. */
function passedPixels({ rowCount, viewPixels }: ListScroll): number {
  const pixels = listPixels(rowCount);
  const allPixels = rowCount * ROW_PIXELS;
  return pixels === allPixels ? 1 : (allPixels - viewPixels) / (pixels - viewPixels);
}
