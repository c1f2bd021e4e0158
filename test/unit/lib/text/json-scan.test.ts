import { expect, test } from "bun:test";
import { FALS, JsonScan, NULL, TRUE } from "../../../../src/lib/text/json-scan.ts";
import * as fc from "../../../support/fast-check.ts";

function scanOf(text: string): JsonScan {
  return new JsonScan(new TextEncoder().encode(text));
}

test("JsonScan.number() reads what a parser reads, to the last bit, or ends before it does", () => {
  const numbers = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.stringMatching(/^-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,24})?$/),
    fc.stringMatching(/^-?[0-9]{0,3}\.?[0-9]{0,3}$/),
    fc.maxSafeInteger().map(String),
  );
  fc.assert(
    fc.property(numbers, (text) => {
      const scan = scanOf(`[${text}]`);
      const value = scan.number(1);
      let parsed: number;
      try {
        parsed = JSON.parse(text) as number;
      } catch {
        parsed = Number.NaN;
      }
      const isWhole = scan.end === text.length + 1;
      if (!Number.isNaN(value) && isWhole) expect(value).toBe(parsed);
      else if (!/e|[0-9.]{32}/.test(text)) expect(parsed).toBeNaN();
    }),
    { numRuns: 3000 },
  );
});

test("JsonScan.textEnd() finds the end of plain texts, and knows the printable ones", () => {
  for (const [text, isPrintable] of [
    ["", true],
    ["bus ~!", true],
    ["é", false],
    ["\u007f", false],
  ] as const) {
    const scan = scanOf(`"${text}",""`);
    const end = new TextEncoder().encode(text).length + 1;
    expect([scan.textEnd(1, 8), scan.isPrintable, scan.text(1, end)]).toEqual([end, isPrintable, text]);
  }
  for (const text of ['"\\n"', '"\u0001"', '"123456789"', '"1']) expect(scanOf(text).textEnd(1, 8)).toBe(-1);
  expect(new JsonScan(Uint8Array.of(0x22, 0xff, 0x22)).text(1, 2)).toBeNull();
});

test("JsonScan.isSame() compares runs of every length", () => {
  const runs = fc.tuple(
    fc.string({ minLength: 1, maxLength: 20 }),
    fc.string({ maxLength: 3 }),
    fc.nat(),
    fc.boolean(),
  );
  fc.assert(
    fc.property(runs, ([run, between, where, isChanged]) => {
      const bytes = new TextEncoder().encode(run);
      const other = Uint8Array.from(bytes);
      if (isChanged) other[where % other.length]! ^= 1;
      const scan = new JsonScan(Uint8Array.of(...bytes, ...new TextEncoder().encode(between), ...other));
      expect(scan.isSame(0, scan.bytes.length - other.length, other.length)).toBe(!isChanged);
    }),
  );
});

test("JsonScan.isWord() knows words that are whole", () => {
  expect(
    ["true", "fals", "null"].map((word, index) => scanOf(word).isWord(0, [TRUE, FALS, NULL][index]!)),
  ).toEqual([true, true, true]);
  expect([scanOf("tru").isWord(0, TRUE), scanOf("null").isWord(0, TRUE)]).toEqual([false, false]);
});
