import { describe, expect, test } from "bun:test";
import {
  readBoolean,
  readMagnitudeOrNaN,
  readNumber,
  readPositiveOrNaN,
  readText,
} from "../../../../src/clients/reading/values.ts";
import * as fc from "../../../support/fast-check.ts";

describe("readNumber()", () => {
  test.each([
    [13.4, 13.4],
    ["13.4", 13.4],
    [" 13.4 ", 13.4],
    ["-0.5", -0.5],
    ["+.5", 0.5],
    ["5.", 5],
    ["1.0E-4", 0.0001],
    ["NaN", null],
    ["Infinity", null],
    ["1e400", null],
    ["0x1f", null],
    ["1 2", null],
    ["", null],
    ["1".repeat(65), null],
    [Number.NaN, null],
    [null, null],
    [undefined, null],
    [true, null],
    [[1], null],
  ])("of %p is %p", (value, number) => {
    expect(readNumber(value)).toBe(number);
  });

  test("of digits, with a fraction or an exponent, is what Number() reads", () => {
    const digits = fc.array(fc.constantFrom(..."0123456789"), { minLength: 1, maxLength: 20 });
    const text = fc
      .tuple(fc.constantFrom("", "-", "+"), digits, fc.option(digits), fc.constantFrom("", "e5", "E-7"))
      .map(([sign, whole, fraction, exponent]) =>
        [sign, ...whole, ...(fraction === null ? [] : [".", ...fraction]), exponent].join(""),
      );
    fc.assert(
      fc.property(text, (each) => expect(readNumber(each)).toBe(Number(each))),
      { numRuns: 1000 },
    );
  });
});

test("readMagnitudeOrNaN() knows nothing below zero, readPositiveOrNaN() nothing at it either", () => {
  expect([-1, 0, 1].map(readMagnitudeOrNaN)).toEqual([null, 0, 1]);
  expect([-1, 0, 1].map(readPositiveOrNaN)).toEqual([null, null, 1]);
  expect(["x", {}, null, " "].map(readMagnitudeOrNaN)).toEqual([Number.NaN, Number.NaN, null, null]);
  expect(["x", {}, null, " "].map(readPositiveOrNaN)).toEqual([Number.NaN, Number.NaN, null, null]);
});

test("readBoolean() reads what says yes or no, and nothing else", () => {
  expect([true, "true", "1", 1].map(readBoolean)).toEqual([true, true, true, true]);
  expect([false, "false", "0", 0].map(readBoolean)).toEqual([false, false, false, false]);
  expect(["yes", 2, null, undefined].map(readBoolean)).toEqual([null, null, null, null]);
});

test("readText() takes names and numbers, and nothing else", () => {
  expect(["van", 7].map(readText)).toEqual(["van", "7"]);
  expect(["", Number.NaN, null, {}].map(readText)).toEqual([null, null, null, null]);
});
