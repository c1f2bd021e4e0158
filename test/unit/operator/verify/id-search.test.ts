import { describe, expect, test } from "bun:test";
import { IdSearch } from "../../../../src/operator/verify/id-search.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("IdSearch", () => {
  test("takes an id in a text for one only where it is a word", () => {
    const search = new IdSearch("van");
    for (const text of ["van", "home of van.", "anna:van", "owntracks/anna/van", "vans, (van)"])
      expect([text, search.isIn(text)]).toEqual([text, true]);
    for (const text of ["vans", "caravan", "van-2", "van_2", "évan", "Van", ""])
      expect([text, search.isIn(text)]).toEqual([text, false]);
    expect(new IdSearch("(x)").isIn("a(x)b")).toBe(true);
  });

  test("looks into members, their names, and bytes of a value", () => {
    const search = new IdSearch("van");
    for (const value of [["a", "van"], { a: { van: 1 } }, { body: bytes("id=van") }, "van"])
      expect(search.isWithin(value)).toBe(true);
    for (const value of [null, 1, { a: [undefined, "vans"] }, new Float64Array(3)])
      expect(search.isWithin(value)).toBe(false);
  });

  test("takes any bytes of an id for one, but in text and JSON only words", () => {
    const search = new IdSearch('the "v" ü');
    expect(search.isInFile(bytes(JSON.stringify({ note: 'at the "v" ü' })))).toBe(true);
    expect(search.isInFile(bytes('the "v" ü'))).toBe(true);
    const short = new IdSearch("1");
    expect(short.isInFile(bytes('{"version":1,"id":"a1"}'))).toBe(false);
    expect(short.isInFile(bytes('{"version":1,"id":"1"}'))).toBe(true);
    expect(short.isInFile(bytes("a1 b11"))).toBe(false);
    expect(short.isInFile(bytes("a1\0b11"))).toBe(true);
    expect(short.isInFile(new Uint8Array([0x61, 0x31, 0xff]))).toBe(true);
  });
});
