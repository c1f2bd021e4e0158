import { expect, test } from "bun:test";
import type { KeyRecord } from "../../../src/auth/key-file.ts";
import { MadeKeys, planMadeKey } from "../../../src/auth/made-keys.ts";
import { TIERS, type TierName } from "../../../src/auth/tiers.ts";
import { fail, ok } from "../../../src/lib/result.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import * as fc from "../../support/fast-check.ts";
import { turns } from "../../support/turns.ts";
import { openTestKeys, SPEC } from "./test-keys.ts";

const NOW_MS = 1_700_000_000_000;
const VIEW = { deviceIds: ["bus" as DeviceId], notBeforeMs: 0, precisionMeters: null };
const FIRST: KeyRecord = {
  ...SPEC,
  id: "k_00000001",
  makerId: null,
  createdMs: NOW_MS,
  lastFour: "x9Yz",
  revokedMs: null,
  sha256: "0f".repeat(32),
};

const permissions = fc.oneof(
  fc.subarray(["read", "write", "operate"] as const, { minLength: 1 }),
  fc.constant(["view"] as const),
);
const makers = fc.record({
  permissions,
  tier: fc.constantFrom<TierName>("free", "standard", "unlimited"),
  appId: fc.constantFrom("shop" as AppId, "default" as AppId),
  deviceId: fc.constantFrom(null, "pixel7"),
  userId: fc.constantFrom(null, "anna"),
  expiresMs: fc.option(fc.integer({ min: 1, max: 100 })),
});
const plans = fc.oneof(
  fc.record({
    kind: fc.constant("phone" as const),
    label: fc.string(),
    deviceId: fc.constantFrom("pixel7", "pixel8"),
  }),
  fc.record({
    kind: fc.constant("share" as const),
    label: fc.string(),
    view: fc.constant(VIEW),
    expiresMs: fc.integer({ min: 1, max: 100 }),
  }),
);

/** Requests a second; none is more than any. */
const rateOf = (tier: TierName) => TIERS[tier]?.requestsPerSecond ?? Number.POSITIVE_INFINITY;

test("planMadeKey() makes nothing that may do more than its maker, or for longer", () => {
  fc.assert(
    fc.property(makers, plans, (of, plan) => {
      const maker = { ...FIRST, ...of };
      const planned = planMadeKey(maker, plan);
      const needed = plan.kind === "phone" ? "write" : "read";
      if (!planned.ok) {
        const may: readonly string[] = maker.permissions;
        const lacks = !may.includes(needed);
        const isElsewhere =
          plan.kind === "phone" && maker.deviceId !== null && maker.deviceId !== plan.deviceId;
        const isLate = plan.kind === "share" && maker.expiresMs !== null && plan.expiresMs > maker.expiresMs;
        expect(lacks || isElsewhere || isLate).toBe(true);
        return;
      }
      const made = planned.value;
      expect(maker.permissions as readonly string[]).toContain(needed);
      expect(made.permissions).toEqual([plan.kind === "phone" ? "write" : "view"]);
      expect(made.appId).toBe(maker.appId);
      expect(made.expiresMs ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(
        maker.expiresMs ?? Number.POSITIVE_INFINITY,
      );
      expect(rateOf(made.tier)).toBeLessThanOrEqual(Math.min(rateOf(maker.tier), rateOf("standard")));
      if (plan.kind === "share") {
        expect([made.view, made.deviceId, made.userId]).toEqual([VIEW, null, null]);
        return;
      }
      expect([made.view, made.deviceId, made.userId]).toEqual([null, plan.deviceId, maker.userId]);
      if (maker.deviceId !== null) expect(made.deviceId).toBe(maker.deviceId);
    }),
    { numRuns: 500 },
  );
});

test("MadeKeys turns away who waited behind a change that the cluster could not be asked for, and nobody later", async () => {
  const { store } = await openTestKeys();
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  const unreached = { kind: "cluster_unreachable", reason: "no majority", mayBeWritten: true } as const;
  const keys = new MadeKeys({
    list: () => store.list(),
    revoke: (id: string) => store.revoke(id),
    async make() {
      asked++;
      await gate.promise;
      return fail(unreached);
    },
  });
  const waiting = [1, 2, 3].map(() => keys.make(FIRST, SPEC));
  await turns();
  gate.resolve();
  const certain = { ...unreached, mayBeWritten: false }; // Of these nothing was written.
  expect((await Promise.all(waiting)).map((made) => made.ok || made.error)).toEqual([
    unreached,
    certain,
    certain,
  ]);
  expect(asked).toBe(1);
  await turns();
  await keys.make(FIRST, SPEC);
  expect(asked).toBe(2);
});

test("MadeKeys changes the file for one after the other, apps by turns, and lets 64 wait", async () => {
  const { store } = await openTestKeys();
  const gate = Promise.withResolvers<void>();
  const order: string[] = [];
  const slow = {
    list: () => store.list(),
    revoke: (id: string) => store.revoke(id),
    async make(makerId: string) {
      await gate.promise;
      order.push(makerId);
      return ok({ key: FIRST, text: "" });
    },
  };
  const keys = new MadeKeys(slow);
  const makerOf = (appId: string) => ({ ...FIRST, id: appId, appId: appId as AppId });
  const greedy = Array.from({ length: 66 }, () => keys.make(makerOf("greedy"), SPEC));
  const modest = keys.make(makerOf("modest"), SPEC);
  gate.resolve();
  const made = await Promise.all(greedy);
  expect((await modest).ok).toBe(true);
  expect(made.filter((one) => !one.ok)).toEqual([
    { ok: false, error: { kind: "file_busy", owner: null } },
    { ok: false, error: { kind: "file_busy", owner: null } },
  ]);
  expect(order.indexOf("modest")).toBeLessThan(3);
});
