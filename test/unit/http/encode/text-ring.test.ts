import { jscDescribe } from "bun:jsc";
import { expect, test } from "bun:test";
import { TextRing } from "../../../../src/http/encode/text-ring.ts";

test("a place is a 32-bit number for the engine, though offsets come from doubles", () => {
  const ring = new TextRing(64, 4096);
  const offsets = new Float64Array(100);
  for (let text = 0; text < offsets.length; text++) offsets[text] = ring.reserve(80);
  for (const offset of offsets.filter((known) => known >= ring.oldest))
    expect(jscDescribe(ring.placeOf(offset))).toStartWith("Int32");
});
