import { expect, test } from "bun:test";
import { backoffMs } from "../../../src/web/live/backoff.ts";

test("backoffMs() doubles up to half a minute, and chance takes off half at most", () => {
  expect([1, 2, 3, 5, 6, 50].map((failures) => backoffMs(failures, null, 1))).toEqual([
    1000, 2000, 4000, 16_000, 30_000, 30_000,
  ]);
  expect(backoffMs(3, null, 0)).toBe(2000);
});

test("backoffMs() is never less than what the server asks for", () => {
  expect(backoffMs(1, 10, 0)).toBe(10_000);
  expect(backoffMs(6, 10, 1)).toBe(30_000);
});
