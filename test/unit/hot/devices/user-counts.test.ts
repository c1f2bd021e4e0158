import { expect, test } from "bun:test";
import { UserCounts } from "../../../../src/hot/devices/user-counts.ts";
import * as fc from "../../../support/fast-check.ts";

test("UserCounts counts few users and many users alike", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(2), fc.oneof(fc.nat(2), fc.nat(20)), fc.boolean()), { maxLength: 200 }),
      (story) => {
        const counts = new UserCounts();
        const plain = [0, 1, 2].map(() => new Map<number, number>());
        for (const [device, user, isAdded] of story) {
          const records = plain[device]!.get(user) ?? 0;
          if (!isAdded && records === 0) continue;
          if (isAdded) expect(counts.add(device, user)).toBe(records === 0);
          else expect(counts.remove(device, user)).toBe(records === 1);
          plain[device]!.set(user, records + (isAdded ? 1 : -1));
          plain.forEach((users, each) => {
            for (const [user, count] of users) expect(counts.recordsOf(each, user)).toBe(count);
            expect(counts.isEmpty(each)).toBe([...users.values()].every((count) => count === 0));
          });
        }
      },
    ),
  );
});

test("a record is not taken back from who has none", () => {
  const counts = new UserCounts();
  counts.add(0, 1);
  expect(() => counts.remove(0, 2)).toThrow("was counted");
});
