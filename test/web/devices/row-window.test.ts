import { expect, test } from "bun:test";
import fc from "fast-check";
import { ROW_PIXELS, scrollTopFor, WINDOW_ROWS_MAX, windowOf } from "../../../src/web/devices/row-window.ts";

const rowCounts = fc.oneof(fc.nat(60), fc.nat(340_000));
const heights = fc.integer({ min: 50, max: 1800 });

test("windowOf() has every row in view, none that isn't there, and 40 at most", () => {
  fc.assert(
    fc.property(rowCounts, fc.nat(), heights, (rowCount, place, viewPixels) => {
      const scrollMax = Math.max(0, rowCount * ROW_PIXELS - viewPixels);
      const scrollTop = place % (scrollMax + 1);
      const { first, count } = windowOf(rowCount, scrollTop, viewPixels);
      const topmost = Math.floor(scrollTop / ROW_PIXELS);
      const lowest = Math.min(rowCount, Math.ceil((scrollTop + viewPixels) / ROW_PIXELS)) - 1;
      expect(first).toBeGreaterThanOrEqual(0);
      expect(first + count).toBeLessThanOrEqual(rowCount);
      if (rowCount > 0) expect(first).toBeLessThanOrEqual(topmost);
      expect(first + count - 1).toBeGreaterThanOrEqual(lowest);
      expect(count).toBeLessThanOrEqual(WINDOW_ROWS_MAX);
    }),
  );
});

test("a list that was scrolled far and is short now shows its end", () => {
  expect(windowOf(100, 1_000_000, 480)).toEqual({ first: 77, count: 23 });
});

test("scrollTopFor() moves no further than it must", () => {
  expect(scrollTopFor(3, 0, 480)).toBe(0);
  expect(scrollTopFor(10, 0, 480)).toBe(ROW_PIXELS);
  expect(scrollTopFor(2, 480, 480)).toBe(2 * ROW_PIXELS);
});
