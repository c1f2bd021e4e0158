import { expect, test } from "bun:test";
import { decodeBase64 } from "../../../../src/lib/bytes/base64.ts";
import * as fc from "../../../support/fast-check.ts";

function decode(text: string | Uint8Array): Buffer {
  const steps = decodeBase64(Buffer.from(text));
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return Buffer.from(value);
  }
}

/** Around the pieces that it is decoded in, too. */
const lengths = fc.oneof(fc.nat(100), fc.constantFrom(49_151, 49_152, 49_153, 98_304), fc.nat(200_000));
const bytesOf = (length: number, seed: number) =>
  Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 31 + seed) ^ (index >> 7)));

test("decodeBase64() gives back what was encoded, in either alphabet, with and without padding", () => {
  fc.assert(
    fc.property(lengths, fc.nat(255), fc.constantFrom("base64", "base64url"), (length, seed, alphabet) => {
      const bytes = bytesOf(length, seed);
      const text = bytes.toString(alphabet);
      expect(decode(text).equals(bytes)).toBe(true);
      expect(decode(text.replaceAll("=", "")).equals(bytes)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test("decodeBase64() passes over what is no letter, such as the escape before a slash", () => {
  const noise = fc.constantFrom("\\", "\n", " ", "é", "\u0000");
  fc.assert(
    fc.property(
      lengths,
      fc.nat(255),
      fc.array(fc.tuple(fc.nat(), noise), { maxLength: 5 }),
      (length, seed, noises) => {
        const bytes = bytesOf(length, seed);
        let text = bytes.toString("base64").replaceAll("/", "\\/").replaceAll("=", "");
        for (const [place, odd] of noises) {
          const at = place % (text.length + 1);
          text = text.slice(0, at) + odd + text.slice(at);
        }
        expect(decode(text).equals(bytes)).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

test("decodeBase64() makes of any bytes what Node's decoder makes of them, up to the first padding", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(..."AZaz09+/-_=\\ é") }), (text) => {
      const [before = ""] = text.split("=");
      expect(decode(text).equals(Buffer.from(before, "base64"))).toBe(true);
    }),
  );
});

test("decodeBase64() rests within a long text, whatever is in it", () => {
  for (const letter of ["A", " "]) {
    expect([...decodeBase64(Buffer.alloc(1024 * 1024, letter))].length).toBe(15);
    expect([...decodeBase64(Buffer.alloc(64 * 1024, letter))].length).toBe(0);
  }
});
