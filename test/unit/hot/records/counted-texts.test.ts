import { expect, test } from "bun:test";
import { CountedTexts } from "../../../../src/hot/records/counted-texts.ts";
import { hashText } from "../../../../src/lib/tables/hash.ts";

test("hash() is of the text that a number means now", () => {
  const texts = new CountedTexts();
  const number = texts.intern("anna");
  texts.retain(number);
  expect([texts.hash(number), texts.hash(number)]).toEqual([hashText("anna"), hashText("anna")]);
  texts.release(number);
  expect(texts.intern("bert")).toBe(number);
  expect(texts.hash(number)).toBe(hashText("bert"));
});
