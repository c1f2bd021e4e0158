import { expect, test } from "bun:test";
import { LastNumbers, NumberColumn, quantile } from "../../../../src/service/doctor/columns.ts";
import * as fc from "../../../support/fast-check.ts";

/** Slots at the edges of pages, and numbers that 32 bits hold. */
const slots = fc.constantFrom(0, 1, 255, 256, 700);
const values = fc.integer({ min: -1000, max: 1000 });

test("LastNumbers keeps the last few of each slot, as lists would", () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 20, arbitrary: fc.record({ slot: slots, push: values }) },
      fc.record({ slot: slots, replace: values }),
      fc.record({ slot: slots, clear: fc.constant(true) }),
    ),
    { maxLength: 120 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 7 }), steps, (length, steps) => {
      const numbers = new LastNumbers(length);
      const lists = new Map<number, number[]>();
      for (const step of steps) {
        const { slot } = step;
        const list = lists.get(slot) ?? [];
        if ("push" in step) {
          numbers.push(slot, step.push);
          lists.set(slot, [...list, step.push].slice(-length));
        } else if ("clear" in step) {
          numbers.clear(slot);
          lists.set(slot, []);
        } else if (list.length > 0) {
          numbers.replaceNewest(slot, step.replace);
          lists.set(slot, [...list.slice(0, -1), step.replace]);
        }
        const expected = lists.get(slot) ?? [];
        expect(numbers.count(slot)).toBe(expected.length);
        expect(numbers.newest(slot)).toBe(expected.at(-1) ?? Number.NaN);
        expect([...numbers.sorted(slot)]).toEqual(expected.toSorted((a, b) => a - b));
      }
    }),
  );
});

test("NumberColumn keeps a number for each slot, and 0 where none was set", () => {
  const column = new NumberColumn();
  column.set(300, 1.5);
  expect([column.get(300), column.get(299), column.get(0), column.get(9999)]).toEqual([1.5, 0, 0, 0]);
});

test("quantile() of the share k of n - 1 is the number at k, and others lie evenly between", () => {
  const lists = fc.array(values, { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(lists, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) => {
      const sorted = list.toSorted((a, b) => a - b);
      const last = sorted.length - 1;
      // The obvious way: walk along the line through all points.
      let expected = sorted[0]!;
      for (let k = 0; k < last; k++) {
        const along = Math.min(1, Math.max(0, share * last - k));
        expected += (sorted[k + 1]! - sorted[k]!) * along;
      }
      expect(quantile(sorted, share)).toBeCloseTo(expected, 6);
    }),
  );
  expect(quantile([1, 2, 3, 10], 0.5)).toBe(2.5);
  expect(quantile([1, 2, 3, 4, 100], 0.25)).toBe(2);
});
