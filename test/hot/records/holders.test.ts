import { expect, test } from "bun:test";
import fc from "fast-check";
import { Holders } from "../../../src/hot/records/holders.ts";

test("holders are counted alike, few or many", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.oneof(fc.nat(2), fc.nat(20)), fc.boolean()), { maxLength: 200 }),
      (story) => {
        const holders = new Holders();
        const plain = new Map<number, number>();
        for (const [user, isAdded] of story) {
          const records = plain.get(user) ?? 0;
          if (!isAdded && records === 0) continue;
          if (isAdded) expect(holders.add(user)).toBe(records === 0);
          else expect(holders.remove(user)).toBe(records === 1);
          plain.set(user, records + (isAdded ? 1 : -1));
          for (const [each, count] of plain) expect(holders.recordsOf(each)).toBe(count);
          expect(holders.isEmpty).toBe([...plain.values()].every((count) => count === 0));
        }
      },
    ),
  );
});

test("a record is not taken back from who has none", () => {
  const holders = new Holders();
  holders.add(1);
  expect(() => holders.remove(2)).toThrow("was counted");
});
