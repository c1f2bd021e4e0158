import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { type ByteRange, trimmed, walkTrimmed } from "../../../../src/lib/text/long-text.ts";
import * as fc from "../../../support/fast-check.ts";

function walkedOver(text: string, { start, end }: ByteRange) {
  const steps = walkTrimmed(Buffer.from(text), { start, end });
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return { place: step.value, count };
  }
}

test("walkTrimmed finds what trimmed finds", () => {
  const text = fc.string({ unit: fc.constantFrom(..." \n\t\ra"), maxLength: 12 });
  fc.assert(
    fc.property(text, text, text, (before, within, after) => {
      const whole = before + within + after;
      const [start, end] = [before.length, before.length + within.length];
      const { place } = walkedOver(whole, { start, end });
      expect(place).toEqual(trimmed(Buffer.from(whole), start, end));
      expect(whole.slice(place.start, place.end)).toBe(within.trim());
    }),
  );
});

test("walkTrimmed looks at megabytes of blanks in steps of 64 KiB", () => {
  const blanks = " ".repeat(1024 * 1024);
  for (const text of [`${blanks}a`, `a${blanks}`, blanks]) {
    const { place, count } = walkedOver(text, { start: 0, end: text.length });
    expect(text.slice(place.start, place.end)).toBe(text.trim());
    expect(count).toBeGreaterThanOrEqual(16);
  }
});
