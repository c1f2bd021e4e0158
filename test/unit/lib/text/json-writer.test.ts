import { expect, test } from "bun:test";
import { JsonWriter, writeNumber, writeReading } from "../../../../src/lib/text/json-writer.ts";
import * as fc from "../../../support/fast-check.ts";

function written(value: number): string {
  const bytes = new Uint8Array(64);
  const view = new DataView(bytes.buffer);
  const text = new TextDecoder().decode(bytes.subarray(0, writeNumber(view, 0, value)));
  const end = writeReading(view, 0, value);
  expect(new TextDecoder().decode(bytes.subarray(0, end))).toBe(text);
  return text;
}

const readings = fc
  .tuple(fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }), fc.integer({ min: 0, max: 10 }))
  .map(([digits, decimals]) => digits / 10 ** decimals);

test("writeNumber() writes what JSON.stringify writes", () => {
  const numbers = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    readings,
    fc.maxSafeInteger(),
  );
  fc.assert(
    fc.property(numbers, (value) => {
      expect(written(value)).toBe(JSON.stringify(value));
    }),
    { numRuns: 20_000 },
  );
});

test("writeNumber() holds at the edges of its short cuts", () => {
  const edges = [0, -0, 9, 10, 9999, 10_000, 1e8 - 1, 1e8, 999_999_999_999_999, 1e15, 1e21, 5e-324];
  const decimals = [
    4.35,
    400,
    400.01,
    399.99,
    0.01,
    0.005,
    21474836.47,
    42949672.96,
    1e-6,
    9.99e-7,
    0.000001001,
    0.1 + 0.2,
    999_999_999.5,
    100.000000001,
    42.378410339,
    1e-9,
  ];
  for (const value of [...edges, ...decimals]) {
    expect(written(value)).toBe(JSON.stringify(value));
    expect(written(-value)).toBe(JSON.stringify(-value));
  }
});

test("JsonWriter grows past its first size and starts over when cleared", () => {
  const json = new JsonWriter(4);
  json.text("[");
  json.number(1.5);
  json.text(",");
  json.value('é\u0001"');
  json.text("]");
  expect(new TextDecoder().decode(json.written())).toBe('[1.5,"é\\u0001\\""]');
  json.clear();
  json.text("{}");
  expect(new TextDecoder().decode(json.written())).toBe("{}");
});
