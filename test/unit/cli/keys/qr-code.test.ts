import { expect, test } from "bun:test";
import { qrCode } from "../../../../src/cli/keys/qr-code.ts";
import * as fc from "../../../support/fast-check.ts";
import { readQr } from "../support/read-qr.ts";

test("qrCode() draws what a reader of the standard reads, in every size that a link has", () => {
  for (let length = 20; length < 800; length += 13) {
    const link = `https://h/${"wh_0aZ/?&=%".repeat(80)}`.slice(0, length);
    expect(readQr(qrCode(link, 200)!)).toBe(link);
  }
});

test("qrCode() draws any text", () => {
  const text = fc.string({ minLength: 1, maxLength: 100, unit: "grapheme" }).map((drawn) => `ä${drawn}`);
  fc.assert(
    fc.property(text, (drawn) => readQr(qrCode(drawn, 200)!) === drawn),
    { numRuns: 50 },
  );
});

test("qrCode() is null where the terminal has fewer columns than it needs", () => {
  const columns = qrCode("https://example.org/", 200)!.indexOf("\n");
  expect(qrCode("https://example.org/", columns)).not.toBeNull();
  expect(qrCode("https://example.org/", columns - 1)).toBeNull();
});
