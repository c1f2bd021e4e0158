import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { TextSet } from "../../../../src/lib/tables/text-set.ts";
import * as fc from "../../../support/fast-check.ts";

test("TextSet numbers texts in order of first appearance, whether they come as such or in bytes", () => {
  const texts = fc.oneof(
    fc.string({ maxLength: 2 }),
    fc.nat({ max: 300 }).map((each) => `bus-${each}`),
  );
  const steps = fc.array(fc.tuple(texts, fc.constantFrom("text", "bytes", "bytes", "find")), {
    maxLength: 400,
  });
  fc.assert(
    fc.property(steps, fc.nat({ max: 100 }), (all, expected) => {
      const set = new TextSet(expected);
      const known = [""];
      for (const [text, how] of all) {
        const number = Math.max(0, known.indexOf(text, 1));
        if (how === "find") {
          expect(set.find(text)).toBe(number);
          continue;
        }
        const bytes = Buffer.from(`"${text}"`);
        const found = set.findAscii(bytes, 1, bytes.length - 1);
        expect([0, number]).toContain(found); // One that came as a text is not known by its bytes.
        const added = how === "text" ? set.add(text) : set.addAscii(bytes, 1, bytes.length - 1);
        expect(added).toBe(number === 0 ? known.push(text) - 1 : number);
      }
      expect(set.texts).toEqual(known);
    }),
  );
});
