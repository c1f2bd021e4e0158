import { expect, test } from "bun:test";
import { encodeBase62 } from "../../../src/auth/base62.ts";
import * as fc from "../../support/fast-check.ts";

test("encodeBase62() fits 32 bytes into 43 characters, and 4 bytes into 6", () => {
  expect(encodeBase62(new Uint8Array(32), 43)).toBe("0".repeat(43));
  expect(encodeBase62(new Uint8Array(32).fill(255), 43)).toHaveLength(43);
  expect(encodeBase62(new Uint8Array(4).fill(255), 6)).toBe("4gfFC3");
});

test("encodeBase62() gives different bytes different texts", () => {
  const bytes = fc.uint8Array({ minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect(encodeBase62(a, 6) === encodeBase62(b, 6)).toBe(a.toString() === b.toString());
    }),
  );
});
