import { expect, test } from "bun:test";
import fc from "fast-check";
import { GrowingBytes } from "../../../src/lib/bytes/growing-bytes.ts";

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
