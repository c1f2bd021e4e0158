import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { createKeyText, hashKey, isWellFormedKey } from "../../../src/auth/api-key.ts";

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
