import { expect, test } from "bun:test";
import { chanceOfDifference, smallestChance } from "../../../bench/support/figures/rank-test.ts";
import * as fc from "../../support/fast-check.ts";

test("chanceOfDifference() is what the textbook says of small samples", () => {
  // Ages at which diabetes was found, the example of SciPy's `mannwhitneyu`: U = 17, p = 1/9.
  expect(chanceOfDifference([19, 22, 16, 29, 24], [20, 11, 17, 12])).toBeCloseTo(1 / 9, 12);
  // Permeability of a membrane at term and earlier, Hollander and Wolfe 4.1, R's `wilcox.test`: W = 35, p = 0.2544.
  const atTerm = [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
  expect(chanceOfDifference(atTerm, [1.15, 0.88, 0.9, 0.74, 1.21])).toBeCloseTo(0.2544, 4);
});

test("chanceOfDifference() of lists apart is two ways of all there are", () => {
  expect(chanceOfDifference([1, 2, 3], [4, 5, 6])).toBeCloseTo(2 / 20, 12);
  expect(chanceOfDifference([6, 7, 8, 9, 10], [1, 2, 3, 4, 5])).toBeCloseTo(2 / 252, 12);
  expect(smallestChance(5, 5)).toBeCloseTo(2 / 252, 12);
  expect(smallestChance(3, 3)).toBeCloseTo(0.1, 12);
  expect(smallestChance(1, 1)).toBe(1);
});

test("chanceOfDifference() sees none where all values are equal", () => {
  expect(chanceOfDifference([7, 7, 7], [7, 7, 7, 7])).toBe(1);
  expect(chanceOfDifference(Array(40).fill(7), Array(40).fill(7))).toBe(1);
});

test("chanceOfDifference() agrees with trying every way to share out the values", () => {
  const values = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 6 }); // Many are equal.
  fc.assert(
    fc.property(values, values, (a, b) => {
      expect(chanceOfDifference(a, b)).toBeCloseTo(chanceByTrying(a, b), 9);
    }),
  );
});

test("chanceOfDifference() knows many values nearly as well as few", () => {
  // 25 values each are counted, 26 are not; the same pattern, a little apart, must be about as likely.
  for (const apart of [0.2, 3.2, 5.2]) {
    const few = chanceOfDifference(evenly(25, 0), evenly(25, apart));
    const many = chanceOfDifference(evenly(26, 0), evenly(26, apart));
    expect(Math.abs(many - few)).toBeLessThan(0.02);
    expect(many / few).toBeWithin(0.8, 1.25);
  }
  expect(chanceOfDifference(evenly(400, 0), evenly(400, 0.25))).toBeGreaterThan(0.9);
  expect(chanceOfDifference(evenly(400, 0), evenly(400, 100))).toBeLessThan(1e-6);
});

test("chanceOfDifference() of many values that share the ranks as evenly as they can is one", () => {
  const all = evenly(54, 0); // The sums of ranks differ by one, which is all there is to correct for.
  const [a, b] = [all.filter((value) => (value % 4) % 3 === 0), all.filter((value) => (value % 4) % 3 !== 0)];
  expect(chanceOfDifference(a, b)).toBeCloseTo(1, 6);
});

function evenly(count: number, start: number): number[] {
  return Array.from({ length: count }, (_, index) => start + index);
}

/** Mean ranks against each other for every choice of the first list out of both. */
function chanceByTrying(a: readonly number[], b: readonly number[]): number {
  const all = [...a, ...b];
  const ranks = all.map((value) => {
    const below = all.filter((other) => other < value).length;
    const same = all.filter((other) => other === value).length;
    return below + (same + 1) / 2;
  });
  const expected = (a.length * (all.length + 1)) / 2;
  const distanceOf = (chosen: readonly number[]) =>
    Math.abs(chosen.reduce((sum, index) => sum + ranks[index]!, 0) - expected);
  const observed = distanceOf(a.map((_, index) => index));
  const choices = choicesOf(all.length, a.length);
  return choices.filter((chosen) => distanceOf(chosen) >= observed - 1e-9).length / choices.length;
}

function choicesOf(from: number, count: number): number[][] {
  if (count === 0) return [[]];
  if (from < count) return [];
  const last = from - 1;
  return [...choicesOf(last, count), ...choicesOf(last, count - 1).map((chosen) => [...chosen, last])];
}
