import { expect, test } from "bun:test";
import {
  decodeIndexColumn,
  encodeIndexColumn,
  indexColumnBytesMax,
} from "../../../../src/lib/frames/index-column.ts";
import { viewsOf } from "../../../../src/lib/frames/views.ts";
import * as fc from "../../../support/fast-check.ts";

function encoded(values: Uint32Array) {
  const views = viewsOf(new Uint8Array(indexColumnBytesMax(values.length) + 16).fill(0xa5));
  const end = encodeIndexColumn(views, 8, values);
  expect(views.bytes[end]).toBe(0xa5);
  return { views, end };
}

const indexes = fc.oneof(
  fc.nat(3),
  fc.nat(0xff),
  fc.constantFrom(0xff, 0x100, 0xffff, 0x10000),
  fc.nat(0xffffff),
);

test("encodeIndexColumn() gives every index back", () => {
  fc.assert(
    fc.property(fc.array(indexes), (numbers) => {
      const values = Uint32Array.from(numbers);
      const { views, end } = encoded(values);
      const out = new Uint32Array(values.length);
      expect(decodeIndexColumn(views, 8, end, 0x1000000, out)).toBe(end);
      expect(out).toEqual(values);
    }),
  );
});

test("decodeIndexColumn() refuses an index beyond the limit", () => {
  fc.assert(
    fc.property(fc.array(indexes, { minLength: 1 }), (numbers) => {
      const values = Uint32Array.from(numbers);
      const { views, end } = encoded(values);
      const greatest = Math.max(...numbers);
      expect(decodeIndexColumn(views, 8, end, greatest, new Uint32Array(values.length))).toBe(-1);
      expect(decodeIndexColumn(views, 8, end, greatest + 1, new Uint32Array(values.length))).toBe(end);
    }),
  );
});

test("decodeIndexColumn() refuses a column that ends too soon, and a kind that is none", () => {
  const { views, end } = encoded(Uint32Array.of(1, 300, 2));
  for (let short = 8; short < end; short += 8) {
    expect(decodeIndexColumn(views, 8, short, 1000, new Uint32Array(3))).toBe(-1);
  }
  views.bytes[8] = 3;
  expect(decodeIndexColumn(views, 8, end + 8, 1000, new Uint32Array(3))).toBe(-1);
});
