import { expect, test } from "bun:test";
import {
  decodeNumberColumn,
  encodeNumberColumn,
  numberColumnBytesMax,
} from "../../../../src/lib/frames/number-column.ts";
import { viewsOf } from "../../../../src/lib/frames/views.ts";
import * as fc from "../../../support/fast-check.ts";

/** What the column takes, and what comes back, with bytes around it that must not matter. */
function roundTrip(values: Float64Array) {
  const views = viewsOf(new Uint8Array(numberColumnBytesMax(values.length) + 32).fill(0xa5));
  const end = encodeNumberColumn(views, 16, values);
  expect(views.bytes[end]).toBe(0xa5);
  const out = new Float64Array(values.length);
  expect(decodeNumberColumn(views, 16, end, out)).toBe(end);
  for (let short = 16; short < end; short += 8) {
    expect(decodeNumberColumn(views, 16, short, new Float64Array(values.length))).toBe(-1);
  }
  return { bytes: end - 16, values: [...out] };
}

/** The one difference that is allowed: -0 may come back as 0. */
function withoutNegativeZero(values: readonly number[]): number[] {
  return values.map((value) => value + 0);
}

const readings = fc
  .tuple(fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }), fc.integer({ min: 0, max: 12 }))
  .map(([digits, decimals]) => digits / 10 ** decimals);
const largeReadings = fc
  .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 10 }))
  .map(([digits, decimals]) => digits / 10 ** decimals);
const notCarried = fc.constant(Number.NaN);
const awkward = fc.constantFrom(
  0,
  -0,
  5e-324,
  0.1 + 0.2,
  2 ** 53,
  -(2 ** 53) - 2,
  1e300,
  Infinity,
  -Infinity,
);
const columns = fc.oneof(
  fc.array(readings),
  fc.array(fc.oneof({ weight: 9, arbitrary: readings }, notCarried)),
  fc.array(largeReadings),
  fc.array(fc.oneof(fc.double(), awkward, readings, notCarried)),
  fc.array(fc.integer({ min: 0, max: 360 })),
);

test("encodeNumberColumn() gives every double back", () => {
  fc.assert(
    fc.property(columns, (numbers) => {
      const { values } = roundTrip(Float64Array.from(numbers));
      expect(withoutNegativeZero(values)).toEqual(withoutNegativeZero(numbers));
    }),
    { numRuns: 3000 },
  );
});

test("encodeNumberColumn() takes what the values need", () => {
  const column = (value: (i: number) => number) =>
    roundTrip(Float64Array.from({ length: 800 }, (_, i) => value(i)));
  expect(column(() => Number.NaN).bytes).toBe(8);
  expect(column(() => 0.1 + 0.2).bytes).toBe(16);
  expect(column((i) => i % 255).bytes).toBe(16 + 800);
  expect(column((i) => (i % 254) / 10).bytes).toBe(16 + 800);
  expect(column((i) => (i === 3 ? Number.NaN : -i % 200)).bytes).toBe(16 + 800);
  expect(column((i) => i % 256).bytes).toBe(16 + 1600);
  expect(column((i) => (5_340_000 + i) / 1e5).bytes).toBe(16 + 1600);
  expect(column((i) => (i % 2 === 0 ? 90 : -90.0000001)).bytes).toBe(16 + 3200);
  expect(column((i) => Math.sqrt(i)).bytes).toBe(8 + 6400);
});

test("encodeNumberColumn() holds at the edges of each width", () => {
  for (const span of [0xfe, 0xff, 0x100, 0xfffe, 0xffff, 0x10000, 0xfffffffe, 0xffffffff, 0x100000000]) {
    for (const base of [0, -1, 1_769_442_912_000, -(2 ** 53) + 1]) {
      const values = [base, base + span, Number.NaN, base + 1];
      expect(roundTrip(Float64Array.from(values)).values).toEqual(values);
    }
  }
});

test("encodeNumberColumn() handles a column without rows", () => {
  expect(roundTrip(new Float64Array())).toEqual({ bytes: 8, values: [] });
});
