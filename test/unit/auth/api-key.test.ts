import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { createKeyText, encodeBase62, hashKey, isWellFormedKey } from "../../../src/auth/api-key.ts";
import * as fc from "../../support/fast-check.ts";

test("createKeyText() makes a different key of the same width every time", () => {
  const keys = new Set(Array.from({ length: 1000 }, createKeyText));
  expect(keys.size).toBe(1000);
  for (const key of keys) {
    expect(key).toMatch(/^wh_[0-9A-Za-z]{49}$/);
    expect(isWellFormedKey(key)).toBe(true);
  }
});

test("createKeyText() ends in the CRC-32 of the 43 characters after the prefix", () => {
  const key = createKeyText();
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const checksum = [...key.slice(46)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
  expect(checksum).toBe(crc32(key.slice(3, 46)));
});

test("isWellFormedKey() notices any one changed character", () => {
  const key = createKeyText();
  for (let i = 0; i < key.length; i++) {
    const other = key[i] === "7" ? "8" : "7";
    expect(isWellFormedKey(key.slice(0, i) + other + key.slice(i + 1))).toBe(false);
  }
  for (const text of ["", "wh_", `${key}0`, key.slice(1), ` ${key}`, `${key}\n`]) {
    expect(isWellFormedKey(text)).toBe(false);
  }
});

test("hashKey() is SHA-256 in hex", () => {
  expect(hashKey("wh_x")).toBe(createHash("sha256").update("wh_x").digest("hex"));
});

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
