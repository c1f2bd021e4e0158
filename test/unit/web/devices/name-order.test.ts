import { expect, test } from "bun:test";
import { NameOrder, roughlySorted } from "../../../../src/web/devices/name-order.ts";

/** Mixed up, the same way each time. */
const NUMBERS = Array.from({ length: 2000 }, (_, index) => (index * 7919) % 2000);

/** How many neighbors stand the wrong way round. */
function stepsBack(names: readonly string[]): number {
  const ranks = new NameOrder().ranksOf(names);
  const rows = roughlySorted(names, 0);
  return rows.filter((row, index) => index > 0 && ranks[row]! < ranks[rows[index - 1]!]!).length;
}

test("roughlySorted() has names of fleets in order but for a few, so that a collator is hardly asked", () => {
  expect(stepsBack(NUMBERS.map((n) => `device-${n}`))).toBe(0);
  expect(stepsBack(NUMBERS.map((n) => `35${String(n * 1e9).padStart(13, "0")}`))).toBe(0);
  const kinds = ["bus ", "Truck_", "van-", "y"];
  expect(stepsBack(NUMBERS.map((n) => `${kinds[n % 4]}${n % 500}${n % 3 === 0 ? "a" : ""}`))).toBeLessThan(
    100,
  );
  expect(stepsBack(NUMBERS.map((n) => (n * 0x9e3779b1).toString(16)))).toBeLessThan(100);
});

test("roughlySorted() has all rows from the first one on, and no other", () => {
  const names = ["b", "", "Ä", "10", "9", "b"];
  expect(roughlySorted(names, 2).sort((a, b) => a - b)).toEqual([2, 3, 4, 5]);
  expect(roughlySorted(names, 6)).toEqual([]);
});
