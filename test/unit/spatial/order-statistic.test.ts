import { expect, test } from "bun:test";
import { orderStatistic, rangeOf } from "../../../src/spatial/order-statistic.ts";
import * as fc from "../../support/fast-check.ts";

const values = fc.oneof(
  fc.integer({ min: 0, max: 6 }), // Many alike.
  fc.double({ noNaN: true, min: 0, max: 1e9 }),
  fc.integer({ min: -1074, max: 30 }).map((exponent) => 2 ** exponent), // The closer together, the nearer to 0.
  fc.double({ noNaN: true, min: 1, max: 1 + 1e-15 }), // Next to each other.
  fc.constantFrom(0, Number.MIN_VALUE, 2 * Number.MIN_VALUE, 1e-300),
);
const weighted = fc.array(fc.record({ value: values, weight: fc.integer({ min: 1, max: 3 }) }), {
  minLength: 1,
  maxLength: 500,
});

test("an order statistic is what sorting tells, of values that come several times and lie close together", () => {
  fc.assert(
    fc.property(weighted, fc.nat(), (items, seed) => {
      // Longer columns than there are values, as where they are used again.
      const columns = [...items, { value: Number.NaN, weight: 1000 }];
      const sorted = items
        .flatMap(({ value, weight }) => Array<number>(weight).fill(value))
        .sort((a, b) => a - b);
      const rank = seed % sorted.length;
      const found = orderStatistic(
        Float64Array.from(columns, ({ value }) => value),
        Uint32Array.from(columns, ({ weight }) => weight),
        items.length,
        rank,
      );
      expect(found).toBe(sorted[rank]!);
    }),
    { numRuns: 1000 },
  );
});

test("the range of values is their least and their greatest", () => {
  expect(rangeOf(Float64Array.of(2, -1, 7, 99), 3)).toEqual({ least: -1, most: 7 });
});
