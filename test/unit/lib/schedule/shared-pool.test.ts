import { describe, expect, test } from "bun:test";
import { SharedPool } from "../../../../src/lib/schedule/shared-pool.ts";
import * as fc from "../../../support/fast-check.ts";

const of = (appId: string, keyId = `${appId}-key`) => ({ appId, keyId });

function takeAll(pool: SharedPool, holder: ReturnType<typeof of>, amount = 1): number {
  let taken = 0;
  while (pool.take(holder, amount)) taken += amount;
  return taken;
}

describe("SharedPool", () => {
  test("leaves two thirds to others than one key, and half to others than one app", () => {
    const pool = new SharedPool(1200);
    expect(takeAll(pool, of("a"))).toBe(400);
    expect(takeAll(pool, of("a", "second")) + 400).toBeLessThanOrEqual(600);
    for (let key = 0; key < 100; key++) takeAll(pool, of("a", `k${key}`));
    expect(pool.used).toBe(600);
  });

  test("has room for the next app, however many want all of it", () => {
    const pool = new SharedPool(10_000);
    for (let app = 1; app <= 20; app++) {
      const left = pool.max - pool.used;
      expect(left).toBeGreaterThanOrEqual(Math.floor(pool.max / 2 ** (app - 1)));
      expect(pool.take(of(`app-${app}`), 1)).toBe(left > 0);
      for (let key = 0; key < 20; key++) takeAll(pool, of(`app-${app}`, `${key}`));
    }
    const equal = new SharedPool(10_000);
    const held = new Map<string, number>();
    for (let round = 0; round < 10_000; round++) {
      for (const name of ["a", "b", "c"])
        for (const key of ["1", "2"])
          if (equal.take(of(name, key), 1)) held.set(name, (held.get(name) ?? 0) + 1);
    }
    for (const amount of held.values()) expect(amount).toBeWithin(2400, 2600);
  });

  test("never gives more than it has, and has all of it again once all is given back", () => {
    const taking = fc.record({
      app: fc.constantFrom("a", "b", "c"),
      key: fc.constantFrom("1", "2"),
      amount: fc.integer({ min: 1, max: 40 }),
      gives: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(taking, { maxLength: 100 }), (takings) => {
        const pool = new SharedPool(100);
        const held: [ReturnType<typeof of>, number][] = [];
        for (const { app, key, amount, gives } of takings) {
          if (gives && held.length > 0) pool.give(...held.shift()!);
          else if (pool.take(of(app, key), amount)) held.push([of(app, key), amount]);
          expect(pool.used).toBe(held.reduce((sum, [, each]) => sum + each, 0));
          expect(pool.used).toBeLessThanOrEqual(pool.max);
          expect(pool.apps).toBe(new Set(held.map(([{ appId }]) => appId)).size);
        }
        for (const each of held) pool.give(...each);
        expect([pool.used, pool.apps]).toEqual([0, 0]);
      }),
    );
  });
});
