import { expect, test } from "bun:test";
import { FloatColumn, grown, NumberColumn } from "../../../../src/lib/tables/columns.ts";
import * as fc from "../../../support/fast-check.ts";

// Crowded at the end of a page and the beginning of the next, and far from there.
const indexes = fc.oneof(fc.nat(20), fc.integer({ min: 4090, max: 4100 }), fc.nat(300_000));

for (const [name, create, values, none] of [
  ["number", () => new NumberColumn(), fc.integer({ min: 0, max: 2 ** 32 - 1 }), 0],
  ["float", () => new FloatColumn(), fc.double({ noNaN: true }), Number.NEGATIVE_INFINITY],
] as const) {
  test(`a ${name} column has what was set last, and ${none} elsewhere`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(indexes, values), { maxLength: 60 }),
        fc.array(indexes),
        (sets, others) => {
          const column = create();
          const plain = new Map<number, number>();
          for (const [at, value] of sets) {
            column.set(at, value);
            plain.set(at, value);
          }
          for (const at of [...plain.keys(), ...others]) expect(column.of(at)).toBe(plain.get(at) ?? none);
        },
      ),
    );
  });
}

test("grown() doubles an array, or makes it as long as it must be, and keeps its kind and its numbers", () => {
  expect(grown(Int32Array.of(1, -2))).toEqual(Int32Array.of(1, -2, 0, 0));
  expect(grown(Float64Array.of(0.5), 3)).toEqual(Float64Array.of(0.5, 0, 0));
  expect(grown(new Uint8Array(0), 1)).toEqual(new Uint8Array(1));
});
