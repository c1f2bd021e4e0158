import { describe, expect, test } from "bun:test";
import { FormatError } from "../../../../../src/formats/read/format.ts";
import { RecordCutter } from "../../../../../src/formats/read/json/record-cutter.ts";
import * as fc from "../../../../support/fast-check.ts";

const MEBIBYTE = 1024 * 1024;

/** Values or faults with their numbers, and the error at the end. */
function cutAll(text: string, sizes: readonly number[] = [text.length + 1]) {
  const bytes = new TextEncoder().encode(text);
  const cutter = new RecordCutter();
  const records: [number, unknown][] = [];
  const take = (next: () => ReturnType<RecordCutter["next"]>) => {
    for (let each = next(); each !== null; each = next())
      records.push([each.number, each.fault ?? each.value]);
  };
  let error: string | null = null;
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const lent = bytes.slice(at, at + sizes[index % sizes.length]!);
    at += lent.length;
    cutter.push(lent);
    take(() => cutter.next());
    lent.fill(0x21);
  }
  try {
    take(() => cutter.last());
  } catch (thrown) {
    if (!(thrown instanceof FormatError)) throw thrown;
    error = thrown.message;
  }
  return { records, error };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return "unreadable";
  }
}

describe("RecordCutter", () => {
  test("finds in each line what parsing it gives, whatever the pieces", () => {
    const line = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify([value])),
      // Bare numbers are not records: without a following byte they count as cut off.
      fc.stringMatching(/^[{}[\]",:\\a1 \r-]{0,12}$/).filter((text) => !/^\s*-?\d+\s*$/.test(text)),
      fc.constant('{"a":1} {"b":2}'),
    );
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 6 }),
        sizes,
        fc.constantFrom("\n", "\x1e"),
        (lines, sizes, mark) => {
          const text =
            mark === "\n"
              ? lines.map((each) => `${each}\n`).join("")
              : lines.map((each) => `\x1e${each}\n`).join("");
          const expected = lines.flatMap((each, index) =>
            each.trim() === "" ? [] : [[index + 1, parsed(each)]],
          );
          const { records, error } = cutAll(text, sizes);
          // What ends with the text, rather than with a mark behind it, may have been cut off.
          if (error !== null) expect(expected.pop()?.[1]).toBe("unreadable");
          if (mark === "\n") expect(error).toBeNull();
          expect(records).toEqual(expected as [number, unknown][]);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("reads records of several lines between separators, and numbers blank lines", () => {
    expect(cutAll('\x1e{\n"a":1\n}\n\x1e{"b":2}')).toEqual({
      records: [
        [1, { a: 1 }],
        [2, { b: 2 }],
      ],
      error: null,
    });
    expect(cutAll('\n\r\n{"a":1}\n\n[2]').records).toEqual([
      [3, { a: 1 }],
      [5, [2]],
    ]);
  });

  test("begins each record anew, however the one before broke off", () => {
    expect(cutAll('{"a":"\\\n{"":2}\n[[\n{"c":1}').records).toEqual([
      [1, "unreadable"],
      [2, { "": 2 }],
      [3, "unreadable"],
      [4, { c: 1 }],
    ]);
  });

  test("builds no long text, nothing deep and no record of more than 16 MiB", () => {
    const lines = [
      `{"image":"${"x".repeat(MEBIBYTE + 1)}","b":1}`,
      "[".repeat(3e6) + "]".repeat(3e6),
      `[${"0,".repeat(8 * MEBIBYTE)}0]`,
      "[1]",
    ];
    const { records } = cutAll(lines.join("\n"), [100_000]);
    expect(records).toEqual([
      [1, { image: "", b: 1 }],
      [2, "unreadable"],
      [3, "too_large"],
      [4, [1]],
    ]);
  });
});
