import { expect, test } from "bun:test";
import { countOf } from "../../../../src/cli/screen/layout.ts";

test("countOf() gives the number in groups, and the noun that belongs to it", () => {
  expect([0, 1, 2, 1234567].map((value) => countOf(value, "day"))).toEqual([
    "0 days",
    "1 day",
    "2 days",
    "1,234,567 days",
  ]);
});
