import { expect, test } from "bun:test";
import { type ColumnBlock, jsonColumns } from "../../../../src/http/encode/json-columns.ts";
import * as fc from "../../../support/fast-check.ts";

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.nat(40_000).map((hundredths) => hundredths / 100),
  fc.constant(Number.NaN),
);
const numbers = fc.array(number, { maxLength: 600, size: "max" }).map((values) => Float64Array.from(values));
const texts = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.boolean(), fc.constant(null)), {
  maxLength: 600,
});
const column = fc.record({
  name: fc.string({ unit: "grapheme", maxLength: 5 }),
  blocks: fc.array(fc.oneof(numbers, texts), { maxLength: 5 }),
});

const plainly = (block: ColumnBlock) =>
  Array.from<unknown, unknown>(block, (value) =>
    typeof value === "number" && Number.isNaN(value) ? null : value,
  );

test("columns are what JSON.stringify writes of their values", () => {
  fc.assert(
    fc.property(fc.uniqueArray(column, { selector: ({ name }) => name, maxLength: 4 }), (columns) => {
      const text = Buffer.concat([...jsonColumns({ total: 3 }, columns)]).toString();
      const lists = columns.map(({ name, blocks }) => [name, blocks.flatMap(plainly)] as const);
      const parts = lists.map(([name, values]) => `,${JSON.stringify(name)}:${JSON.stringify(values)}`);
      expect(text).toBe(`{"total":3${parts.join("")}}`);
    }),
    { numRuns: 100 },
  );
});

test("no piece is long, however long a column is", () => {
  const blocks = Array.from({ length: 100 }, () => new Float64Array(10_000).fill(Math.PI));
  const pieces = [...jsonColumns({ total: 3 }, [{ name: "pi", blocks }])];
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(32_768);
  expect(JSON.parse(Buffer.concat(pieces).toString()).pi).toHaveLength(1_000_000);
});
