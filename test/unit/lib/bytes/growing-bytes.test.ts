import { expect, test } from "bun:test";
import { GrowingBytes } from "../../../../src/lib/bytes/growing-bytes.ts";
import * as fc from "../../../support/fast-check.ts";

test("GrowingBytes joins pieces, and keeps none of what they lie in", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (pieces) => {
      const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
      const bytes = new GrowingBytes(Math.max(size, 1));
      for (const piece of pieces) {
        const larger = new Uint8Array(1000).fill(7);
        larger.set(piece, 10);
        bytes.add(larger.subarray(10, 10 + piece.length));
      }
      const joined = bytes.bytes();
      expect(Buffer.from(joined)).toEqual(Buffer.concat(pieces));
      expect(bytes.size).toBe(size);
      expect(joined.buffer.byteLength).toBeLessThanOrEqual(Math.min(2 * size, Math.max(size, 1)));
    }),
  );
});

test("GrowingBytes frees what it moved away from and what is dropped, and goes on empty", () => {
  const bytes = new GrowingBytes(1000);
  bytes.add(Uint8Array.of(1, 2, 3));
  const small = bytes.bytes();
  bytes.add(new Uint8Array(500));
  expect(small.length).toBe(0); // Its memory is gone.
  const large = bytes.bytes();
  expect([...large.subarray(0, 4)]).toEqual([1, 2, 3, 0]);
  bytes.drop();
  expect(large.length).toBe(0);
  expect(bytes.size).toBe(0);
  bytes.add(Uint8Array.of(4));
  expect([...bytes.bytes()]).toEqual([4]);
});
