import { expect, test } from "bun:test";
import {
  listPixels,
  ROW_PIXELS,
  scrollTopFor,
  WINDOW_ROWS_MAX,
  windowOf,
} from "../../../../src/web/devices/row-window.ts";
import * as fc from "../../../support/fast-check.ts";

const rowCounts = fc.oneof(fc.nat(60), fc.nat(340_000), fc.nat(1_000_000));
const heights = fc.integer({ min: 50, max: 1800 });
const places = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1));

/** What a browser shows: the rows of which a part is within the view, and where their list begins and ends. */
function shownRows(rowCount: number, scrollTop: number, viewPixels: number, drawnPixels: number) {
  const { first, count, top } = windowOf({ rowCount, scrollTop, viewPixels }, drawnPixels);
  const rowAt = (pixel: number) => first + Math.floor((pixel - top) / ROW_PIXELS + 1e-7);
  const lowest = Math.min(rowCount, rowAt(scrollTop + viewPixels - 1e-6) + 1) - 1;
  return { first, count, topmost: rowAt(scrollTop), lowest };
}

test("windowOf() has every row in view, none that isn't there, and 40 at most", () => {
  fc.assert(
    fc.property(rowCounts, places, heights, fc.nat(200), (rowCount, place, viewPixels, more) => {
      const scrollTop = place * Math.max(0, listPixels(rowCount) - viewPixels);
      const drawnPixels = Math.min(1800, viewPixels + more);
      const shown = shownRows(rowCount, scrollTop, viewPixels, drawnPixels);
      const { first, count, topmost, lowest } = shown;
      expect(first).toBeGreaterThanOrEqual(0);
      expect(first + count).toBeLessThanOrEqual(rowCount);
      if (rowCount > 0) expect(first).toBeLessThanOrEqual(topmost);
      expect(first + count - 1).toBeGreaterThanOrEqual(lowest);
      expect(count).toBeLessThanOrEqual(WINDOW_ROWS_MAX);
    }),
  );
});

test("one scrolls from the first row to the last, also through a million", () => {
  for (const rowCount of [10, 1000, 340_000, 1_000_000]) {
    const viewPixels = 480;
    expect(shownRows(rowCount, 0, viewPixels, 800).topmost).toBe(0);
    const scrollTop = listPixels(rowCount) - viewPixels;
    expect(shownRows(rowCount, scrollTop, viewPixels, 800).lowest).toBe(rowCount - 1);
  }
  expect(listPixels(1_000_000)).toBeLessThan(17_000_000);
});

test("a list that was scrolled far and is short now shows its end", () => {
  const scroll = { rowCount: 100, scrollTop: 1_000_000, viewPixels: 480 };
  expect(windowOf(scroll, 480)).toEqual({ first: 77, count: 23, top: 77 * ROW_PIXELS });
});

test("scrollTopFor() moves no further than it must", () => {
  const scroll = { rowCount: 100, scrollTop: 0, viewPixels: 480 };
  expect(scrollTopFor(3, scroll)).toBe(0);
  expect(scrollTopFor(10, scroll)).toBe(ROW_PIXELS);
  expect(scrollTopFor(2, { ...scroll, scrollTop: 480 })).toBe(2 * ROW_PIXELS);
});

test("scrollTopFor() brings any row of any list whole into view", () => {
  fc.assert(
    fc.property(rowCounts, places, places, heights, (rowCount, place, row, viewPixels) => {
      fc.pre(rowCount > 0);
      const index = Math.floor(row * (rowCount - 1));
      const before = place * Math.max(0, listPixels(rowCount) - viewPixels);
      const scrollTop = scrollTopFor(index, { rowCount, scrollTop: before, viewPixels });
      const { first, count, top } = windowOf({ rowCount, scrollTop, viewPixels }, viewPixels);
      expect(index).toBeGreaterThanOrEqual(first);
      expect(index).toBeLessThan(first + count);
      const from = top + (index - first) * ROW_PIXELS - scrollTop;
      expect(from).toBeGreaterThanOrEqual(-1e-6);
      if (viewPixels >= ROW_PIXELS) expect(from + ROW_PIXELS).toBeLessThanOrEqual(viewPixels + 1e-6);
    }),
  );
});
