import { expect, test } from "bun:test";
import { guardedCell, unguardedText } from "../../../src/formats/csv-guard.ts";
import * as fc from "../../support/fast-check.ts";

const text = fc.string({
  unit: fc.constantFrom(..."'=+-@\t\r\na1. ;|,\"\uFF1D\uFF20\uFEFF"),
  maxLength: 12,
});

test("guardedCell() and unguardedText() give every text back", () => {
  fc.assert(
    fc.property(text, (value) => {
      expect(unguardedText(guardedCell(value))).toBe(value);
      expect(guardedCell(value)).not.toBe("");
    }),
    { numRuns: 5000 },
  );
});

test("guardedCell() leaves no formula, whichever character separates the cells of a reader", () => {
  fc.assert(
    fc.property(text, (value) => {
      const cell = guardedCell(value);
      if (/^[+-]\d+(\.\d+)?$/.test(cell)) return;
      for (const part of cell.split(/[,;|\t\r\n]/)) expect(part).not.toMatch(/^["\s]*[=+\-@\uFF1D\uFF20]/);
    }),
    { numRuns: 5000 },
  );
});

test("guardedCell() adds nothing where nothing is needed, and keeps the text's own apostrophes", () => {
  for (const plain of [
    "bus-1",
    "it's",
    "'tis",
    "''a",
    "-5",
    "+0",
    "-5.25",
    "a=b",
    "x;y",
    "a; b=c",
    "\uFF21\uFF1D",
  ]) {
    expect(guardedCell(plain)).toBe(plain);
    expect(unguardedText(plain)).toBe(plain);
  }
});

test("guardedCell() guards the start of a text and what follows a separator", () => {
  const cells = {
    "=1": "'=1",
    "'=1": "''=1",
    "": "'",
    "'": "''",
    "-a": "'-a",
    "--5": "'--5",
    " =1": "' =1",
    "\uFF1D1+1": "'\uFF1D1+1",
    "x;=cmd|'/C calc'!A0;": "x;'=cmd|'/C calc'!A0;",
    "x|@y": "x|'@y",
    'x;""=1': `x;'""=1`,
    "a,-1": "a,'-1",
  };
  for (const [value, cell] of Object.entries(cells)) expect(guardedCell(value)).toBe(cell);
});
