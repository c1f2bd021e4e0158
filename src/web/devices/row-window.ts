/* Which rows of a long list are drawn: those in view, and some more above and below. */

/** As in list.css. */
export const ROW_PIXELS = 48;
export const WINDOW_ROWS_MAX = 40;
const MARGIN_ROWS = 6;
/** Browsers cut off elements that are higher than some 17 million pixels. */
export const LIST_ROWS_MAX = 340_000;

export interface RowWindow {
  readonly first: number;
  readonly count: number;
}

export function windowOf(rowCount: number, scrollTop: number, viewPixels: number): RowWindow {
  const inView = Math.ceil(viewPixels / ROW_PIXELS) + 1;
  const count = Math.min(rowCount, Math.max(inView, Math.min(inView + 2 * MARGIN_ROWS, WINDOW_ROWS_MAX)));
  const above = Math.max(0, Math.floor((count - inView) / 2));
  const first = Math.floor(scrollTop / ROW_PIXELS) - above;
  return { first: Math.max(0, Math.min(first, rowCount - count)), count };
}

/** Where to scroll to so that a row is in view. */
export function scrollTopFor(index: number, scrollTop: number, viewPixels: number): number {
  const top = index * ROW_PIXELS;
  return Math.min(top, Math.max(scrollTop, top + ROW_PIXELS - viewPixels));
}
