import { expect, test } from "bun:test";
import { TextMap } from "../../../../src/lib/tables/text-map.ts";
import * as fc from "../../../support/fast-check.ts";

test("a text map does what a map does, also beyond what its first map takes", () => {
  const steps = fc.array(fc.tuple(fc.constantFrom("", "a", "b", "ä", "aa", "ab", "\u{1F68C}"), fc.nat(9)));
  fc.assert(
    fc.property(steps, (story) => {
      const texts = new TextMap<number>(2);
      const plain = new Map<string, number>();
      for (const [text, value] of story) {
        expect(texts.get(text)).toBe(plain.get(text)!);
        if (plain.delete(text)) texts.delete(text);
        else {
          plain.set(text, value);
          texts.add(text, value);
        }
      }
      for (const text of ["", "a", "b", "ä", "aa", "ab", "\u{1F68C}"]) {
        expect(texts.get(text)).toBe(plain.get(text)!);
      }
    }),
  );
});
