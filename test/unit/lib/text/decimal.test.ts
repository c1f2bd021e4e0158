import { expect, test } from "bun:test";
import { parsePlainDecimal } from "../../../../src/lib/text/decimal.ts";
import * as fc from "../../../support/fast-check.ts";

test("parsePlainDecimal() reads what Number() does where the text is digits with a minus or decimals, and nothing else", () => {
  const digits = fc.array(fc.constantFrom(..."0123456789"), { maxLength: 20 }).map((all) => all.join(""));
  const texts = fc.oneof(
    fc
      .tuple(fc.constantFrom("", "-", "--", "+", " "), digits, fc.constantFrom("", ".", "..", "e"), digits)
      .map((all) => all.join("")),
    fc.double({ noNaN: true }).map(String),
    fc.string(),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const expected = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
      expect(parsePlainDecimal(text)).toBe(expected);
    }),
    { numRuns: 5000 },
  );
});

test.each([
  "",
  "-",
  ".",
  "-.",
  "1.",
  ".5",
  "-.5",
  "1.2.3",
  "0x10",
  "1e5",
  " 1",
  "+1",
  "1 ",
  "Infinity",
  "NaN",
  "٣",
])("parsePlainDecimal(%p) is not a number", (text) => {
  expect(parsePlainDecimal(text)).toBeNaN();
});

test.each([
  "0",
  "-0",
  "00.10",
  "42.361234",
  "-71.061234",
  "999999999999999",
  "9007199254740993",
  "0.1",
  "123456789.123456789",
])("parsePlainDecimal(%p) is what Number() says", (text) => {
  expect(parsePlainDecimal(text)).toBe(Number(text));
});
