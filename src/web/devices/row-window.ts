/*
 * Which rows of a long list are drawn: those in view, and some above and below. Browsers limit the height of an element
 * to about 17 million pixels: in a longer list one pixel of scrolling moves the rows by several pixels.
 */

/** list.css has the same value. */
export const ROW_PIXELS = 48;
export const WINDOW_ROWS_MAX = 40;
const MARGIN_ROWS = 6;
const LIST_PIXELS_MAX = 16_000_000;

/** The scroll state of the list's element. */
export interface ListScroll {
  readonly rowCount: number;
  readonly scrollTop: number;
  /** The visible height. */
  readonly viewPixels: number;
}

export interface RowWindow {
  readonly first: number;
  readonly count: number;
  /** The offset of the first row in the element, in pixels. */
  readonly top: number;
}

/** The height of the list's element. */
export function listPixels(rowCount: number): number {
  return Math.min(rowCount * ROW_PIXELS, LIST_PIXELS_MAX);
}

/** `drawnPixels` is the least height to draw, which may exceed the visible height. */
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

/** The scroll position that brings a row into view. */
export function scrollTopFor(index: number, scroll: ListScroll): number {
  const passed = passedPixels(scroll);
  const top = index * ROW_PIXELS;
  const lowest = top + ROW_PIXELS - scroll.viewPixels;
  return Math.min(top / passed, Math.max(scroll.scrollTop, lowest / passed));
}

/** How many pixels the rows move for each pixel of scrolling: one, unless the height is limited. */
function passedPixels({ rowCount, viewPixels }: ListScroll): number {
  const pixels = listPixels(rowCount);
  const allPixels = rowCount * ROW_PIXELS;
  return pixels === allPixels ? 1 : (allPixels - viewPixels) / (pixels - viewPixels);
}
