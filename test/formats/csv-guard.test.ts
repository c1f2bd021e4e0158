import { expect, test } from "bun:test";
import fc from "fast-check";
import { guardedCell, unguardedText } from "../../src/formats/csv-guard.ts";

const text = fc.string({ unit: fc.constantFrom("'", "=", "+", "-", "@", "\t", "a", "1", ".", " ") });

test("every text comes back from its cell, and no cell is a formula", () => {
  fc.assert(
    fc.property(text, (value) => {
      const cell = guardedCell(value);
      expect(unguardedText(cell)).toBe(value);
      expect(cell).not.toBe("");
      if (!/^[+-]\d+(\.\d+)?$/.test(cell)) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
    }),
    { numRuns: 5000 },
  );
});

test("what needs no guard gets none, and an apostrophe of its own stays", () => {
  for (const plain of ["bus-1", "it's", "'tis", "''a", "-5", "+0", "-5.25", " =1", "a=b"]) {
    expect(guardedCell(plain)).toBe(plain);
    expect(unguardedText(plain)).toBe(plain);
  }
  expect(["=1", "'=1", "", "'", "-a", "--5"].map(guardedCell)).toEqual([
    "'=1",
    "''=1",
    "'",
    "''",
    "'-a",
    "'--5",
  ]);
});
