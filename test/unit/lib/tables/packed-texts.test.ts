import { expect, test } from "bun:test";
import { PackedTexts, unpackText } from "../../../../src/lib/tables/packed-texts.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import * as fc from "../../../support/fast-check.ts";

const text = fc.oneof(
  fc.constantFrom("", "a", "ab", "ba", "ä", "\u007f", "\u0080", "\u{1F68C}", "\ud800"),
  fc.constantFrom(253, 254, 255, 256).map((length) => "x".repeat(length)),
  fc.uuid(),
);
/** Within a page, at its edges, on later ones, and beyond what is remembered of texts that were made. */
const number = fc.oneof(
  fc.nat(5),
  fc.constantFrom(4095, 4096, 4097, 16_383, 16_384),
  fc.integer({ min: 0, max: 600 }),
);
const story = fc.array(fc.tuple(number, text), { maxLength: 600, size: "max" });

test("packed texts are those that were set and not deleted, by number", () => {
  fc.assert(
    fc.property(story, text, (changes, other) => {
      const texts = new PackedTexts();
      const plain = new Map<number, string>();
      for (const [number, text] of changes) {
        expect(texts.has(number)).toBe(plain.has(number));
        if (plain.has(number)) {
          expect(texts.text(number)).toBe(plain.get(number)!);
          expect(texts.is(number, other)).toBe(plain.get(number) === other);
          expect(Math.sign(texts.compare(number, other))).toBe(
            Math.sign(compareUtf8(plain.get(number)!, other)),
          );
          texts.delete(number);
          plain.delete(number);
        } else {
          texts.set(number, text);
          plain.set(number, text);
        }
      }
      for (const [number, text] of plain) {
        expect(texts.text(number)).toBe(text);
        expect(texts.text(number)).toBe(text); // As it was made just now.
        expect(texts.is(number, text)).toBe(true);
        expect(texts.is(number, `${text}b`)).toBe(false);
      }
      expect(texts.numbersEnd).toBe(Math.max(-1, ...changes.map(([number]) => number)) + 1);
    }),
  );
});

test("packed texts stay what they are while pages fill, run out of room and are filled anew", () => {
  const texts = new PackedTexts();
  const plain: string[] = [];
  for (let round = 0; round < 4; round++) {
    for (let number = round; number < 5000; number += round + 1) {
      if (texts.has(number)) texts.delete(number);
      plain[number] = `${number}-${"y".repeat((number * 7 + round * 31) % 256)}`;
      texts.set(number, plain[number]!);
    }
    for (const [number, text] of plain.entries()) expect(texts.is(number, text)).toBe(true);
  }
  for (const [number, text] of plain.entries()) expect(texts.text(number)).toBe(text);
});

test("unpackText() gives a text from its old bytes, even after its number was deleted or reused", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(40), fc.uuid()), { maxLength: 200, size: "max" }), (changes) => {
      const texts = new PackedTexts();
      const lying: [string, Buffer, number][] = [];
      for (const [number, text] of changes) {
        if (texts.has(number)) texts.delete(number);
        texts.set(number, text);
        expect(texts.findString(number)).toBeNull();
        lying.push([text, texts.bytesOf(number), texts.startOf(number)]);
      }
      for (const [text, bytes, start] of lying) expect(unpackText(bytes, start)).toBe(text);
    }),
  );
});
