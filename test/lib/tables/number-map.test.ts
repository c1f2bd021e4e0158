import { expect, test } from "bun:test";
import fc from "fast-check";
import { NO_NUMBER, NumberMap } from "../../../src/lib/tables/number-map.ts";

test("a number map has what was set and not deleted", () => {
  const key = fc.oneof(fc.nat(60), fc.constantFrom(0, 2 ** 31, 2 ** 32 - 2));
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat(), fc.boolean()), { maxLength: 400, size: "max" }), (story) => {
      const map = new NumberMap();
      const plain = new Map<number, number>();
      for (const [key, number, isSet] of story) {
        if (isSet) {
          map.set(key, number);
          plain.set(key, number);
        } else {
          map.delete(key);
          plain.delete(key);
        }
        expect(map.size).toBe(plain.size);
        expect(map.get(key)).toBe(plain.get(key) ?? NO_NUMBER);
      }
      for (const [key, number] of plain) expect(map.get(key)).toBe(number);
      expect([...map.keys()].sort((a, b) => a - b)).toEqual([...plain.keys()].sort((a, b) => a - b));
    }),
  );
});
