import { describe, expect, test } from "bun:test";
import { type JsonFault, JsonWalk } from "../../../../src/lib/text/json-walk.ts";
import * as fc from "../../../support/fast-check.ts";

/*
 * Goal: the walk takes for JSON what `JSON.parse` takes, and tells where the outermost children lie. Method: texts
 * that are JSON, such texts with something changed, and rows of the characters that matter, each walked in steps of
 * some bytes so that a step may end anywhere.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Walked {
  readonly fault: JsonFault | null;
  readonly children: string[];
}

function walked(text: string, stepBytes: number, depthMax = 1000): Walked {
  const bytes = encoder.encode(text);
  const children: string[] = [];
  const slice = (start: number, end: number) => decoder.decode(bytes.subarray(start, end));
  const walk = new JsonWalk(bytes, 0, bytes.length, depthMax, (start, end, nameStart, nameEnd) => {
    const name = nameStart === nameEnd ? "" : `${slice(nameStart, nameEnd)}:`;
    children.push(`${name}${slice(start, end)}`);
  });
  while (walk.walk(stepBytes));
  return { fault: walk.fault, children };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const PIECES = [
  ...'{}[],:"\\0123456789.-+eEtrufalsn \n\t\r\u0001\u007fé😀\ufeff',
  '"a"',
  "true",
  "false",
  "null",
  "\\u00e9",
  "[1]",
  '{"a":1}',
];
const rows = fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((pieces) => pieces.join(""));
/** JSON with white space, and with one character more, less or another. */
const mutated = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.nat({ max: 3 }),
    fc.nat(),
    fc.constantFrom("", ...PIECES),
    fc.nat({ max: 2 }),
  )
  .map(([json, indent, where, piece, cut]) => {
    const text = JSON.stringify(JSON.parse(json), null, indent);
    const at = where % (text.length + 1);
    return text.slice(0, at) + piece + text.slice(at + cut);
  })
  .filter((text) => text.isWellFormed()); // Halves of characters don't come as UTF-8.

describe("JsonWalk", () => {
  test("agrees with JSON.parse on what is JSON", () => {
    fc.assert(
      fc.property(fc.oneof(rows, mutated, fc.json()), fc.integer({ min: 1, max: 40 }), (text, stepBytes) => {
        expect(walked(text, stepBytes).fault).toBe(isJson(text) ? null : "syntax");
      }),
      { numRuns: 4000 },
    );
  });

  test("tells where the outermost values lie, each with its name", () => {
    const values = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(
        fc.array(values),
        fc.array(fc.tuple(fc.string(), values)),
        fc.nat({ max: 3 }),
        (list, pairs, indent) => {
          const texts = list.map((value) => JSON.stringify(value));
          expect(walked(`[${texts.join(",")}]`, 7).children).toEqual(texts);
          const members = pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
          expect(walked(`{${members.join(",")}}`, 7).children).toEqual(members);
          const spaced = JSON.stringify(list, null, indent);
          expect(walked(spaced, 7).children.map((child) => JSON.parse(child) as unknown)).toEqual(
            JSON.parse(spaced),
          );
        },
      ),
    );
  });

  test("leaves white space out of names and values but for what two steps saw", () => {
    const white = fc
      .tuple(fc.constantFrom(..." \n\t\r"), fc.nat({ max: 60 }))
      .map(([one, count]) => one.repeat(count));
    const values = fc.constantFrom('"a"', "12", "true", "[ [ ] ]", "{ }", '" "');
    const members = fc.array(fc.tuple(values, white, white, white, white), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(members, fc.integer({ min: 1, max: 20 }), (all, stepBytes) => {
        const spaced = all.map(([value, a, b, c, d]) => `${a}"n"${b}:${c}${value}${d}`).join(",");
        const { fault, children } = walked(`{${spaced}}`, stepBytes);
        expect(fault).toBeNull();
        children.forEach((child, at) => {
          const parts = child.split(":");
          expect(parts.map((part) => part.trim())).toEqual(['"n"', all[at]![0]]);
          for (const part of parts) {
            expect(part.length - part.trim().length).toBeLessThanOrEqual(4 * stepBytes);
          }
        });
      }),
    );
  });

  test("follows values in values as far as it is told, and stops there", () => {
    expect(walked("[[[]]]", 1, 3).fault).toBeNull();
    expect(walked("[[[[", 1, 3).fault).toBe("depth");
    expect(walked('{"a":{"a":[[]]}}', 1, 3).fault).toBe("depth");
  });
});
