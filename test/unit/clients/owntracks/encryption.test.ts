import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { encryptBox, keyOf, openBox } from "../../../../src/clients/owntracks/encryption.ts";
import * as fc from "../../../support/fast-check.ts";
import { nativeDeno } from "../../../support/native-deno.ts";

function open(key: Uint8Array, box: Uint8Array): Uint8Array | null {
  const steps = openBox(key, box);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

describe("openBox()", () => {
  const keys = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const nonces = fc.uint8Array({ minLength: 24, maxLength: 24 });
  // Up to several pieces, and their edges.
  const lengths = fc.oneof(
    fc.nat(200),
    fc.constantFrom(0, 1, 31, 32, 33, 65_503, 65_504, 65_505, 65_536, 131_072),
    fc.nat(200_000),
  );

  test("agrees with the library's own way, which opens a box in one piece", () => {
    fc.assert(
      fc.property(keys, nonces, lengths, (key, nonce, length) => {
        const text = Uint8Array.from({ length }, (_, index) => (index * 31) ^ (index >> 8));
        const box = Buffer.concat([nonce, xsalsa20poly1305(key, nonce).encrypt(text)]);
        expect(Buffer.from(open(key, box) ?? "none").equals(text)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test("opens nothing of which a bit is wrong, or an end is missing", () => {
    const key = keyOf("phrase");
    fc.assert(
      fc.property(lengths, fc.nat(), fc.nat(7), (length, place, bit) => {
        const box = encryptBox(key, new Uint8Array(length));
        const wrong = box.slice();
        wrong[place % box.length]! ^= 1 << bit;
        expect(open(key, wrong)).toBeNull();
        expect(open(key, box.subarray(0, place % box.length))).toBeNull();
        expect(open(keyOf("phrasf"), box)).toBeNull();
      }),
      { numRuns: 200 },
    );
  });

  test("rests within a long box", () => {
    const key = keyOf("phrase");
    expect([...openBox(key, encryptBox(key, new Uint8Array(1024 * 1024)))].length).toBeGreaterThan(20);
    expect([...openBox(key, encryptBox(key, new Uint8Array(60_000)))]).toEqual([]);
  });

  test.each([
    ["Bun", process.execPath, []],
    ["Deno", nativeDeno(), ["run", "-A"]],
  ])("opens what the Android app sealed, and a box of NaCl: %s", (_, program, flags) => {
    const { stdout } = Bun.spawnSync([program, ...flags, join(import.meta.dir, "read-known-boxes.ts")]);
    expect(JSON.parse(stdout.toString())).toMatchObject([
      { latitude: 50.1182933, longitude: -5.5407733, timestampMs: 1_754_215_100_000 },
      { latitude: 52.52, longitude: 13.405, user: "anna", details: { speed: 10 } },
    ]);
  });
});

describe("keyOf()", () => {
  test("fills a short phrase up with zeros, and cuts a long one, also within a character", () => {
    expect([...keyOf("s3")]).toEqual([0x73, 0x33, ...Array<number>(30).fill(0)]);
    expect([...keyOf("x".repeat(40))]).toEqual(Array<number>(32).fill(0x78));
    expect([...keyOf(`${"x".repeat(31)}ü`)]).toEqual([...Array<number>(31).fill(0x78), 0xc3]);
  });
});

test("a box is never sealed with a nonce for the second time", () => {
  const boxes = Array.from({ length: 100 }, () => encryptBox(keyOf("phrase"), new Uint8Array(1)));
  expect(new Set(boxes.map((box) => Buffer.from(box.subarray(0, 24)).toString("hex"))).size).toBe(100);
});
