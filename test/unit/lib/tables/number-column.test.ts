import { expect, test } from "bun:test";
import { NumberColumn } from "../../../../src/lib/tables/number-column.ts";
import * as fc from "../../../support/fast-check.ts";

test("a column has what was set last, and 0 elsewhere", () => {
  // Crowded where a page ends and another begins, and far from there.
  const index = fc.oneof(fc.nat(20), fc.integer({ min: 4090, max: 4100 }), fc.nat(300_000));
  const value = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(fc.array(fc.tuple(index, value), { maxLength: 60 }), fc.array(index), (sets, others) => {
      const column = new NumberColumn();
      const plain = new Map<number, number>();
      for (const [at, value] of sets) {
        column.set(at, value);
        plain.set(at, value);
      }
      for (const at of [...plain.keys(), ...others]) expect(column.of(at)).toBe(plain.get(at) ?? 0);
    }),
  );
});
