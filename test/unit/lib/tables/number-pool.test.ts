import { expect, test } from "bun:test";
import { NumberPool, PAGE_NUMBERS } from "../../../../src/lib/tables/number-pool.ts";

test("take() gives each number once, and those again that were given back, of the lowest page first", () => {
  const pool = new NumberPool();
  const numbers = Array.from({ length: 3 * PAGE_NUMBERS }, () => pool.take());
  expect(new Set(numbers).size).toBe(3 * PAGE_NUMBERS);
  expect(Math.max(...numbers)).toBe(3 * PAGE_NUMBERS - 1);
  for (const number of [2 * PAGE_NUMBERS, 7, PAGE_NUMBERS]) pool.giveBack(number);
  expect([pool.take(), pool.take(), pool.take()]).toEqual([7, PAGE_NUMBERS, 2 * PAGE_NUMBERS]);
  expect(pool.size).toBe(3 * PAGE_NUMBERS);
});

test("giveBack() tells when the last number of a page is back, also of one that is taken again", () => {
  const pool = new NumberPool();
  for (let round = 0; round < 2; round++) {
    const numbers = Array.from({ length: PAGE_NUMBERS + 2 }, () => pool.take());
    const emptied = numbers.filter((number) => pool.giveBack(number));
    expect(emptied).toEqual([PAGE_NUMBERS - 1, PAGE_NUMBERS + 1]);
    expect(pool.size).toBe(0);
  }
});
