import { describe, expect, test } from "bun:test";
import type { AppId } from "../../../../src/model/ids.ts";
import { type Listener, ViewerSlots } from "../../../../src/service/live/viewer-slots.ts";
import * as fc from "../../../support/fast-check.ts";

const listener = (appId: string, keyId: string, isView = false): Listener => ({
  appId: appId as AppId,
  keyId,
  isView,
});

/** How many slots this one gets, of so many that it asks for. */
function takenBy(slots: ViewerSlots, who: Listener, tries: number): number {
  return Array.from({ length: tries }, () => slots.take(who)).filter((leave) => leave !== null).length;
}

describe("ViewerSlots", () => {
  test("gives a key 64, and a share link 512", () => {
    const slots = new ViewerSlots(2000);
    expect(takenBy(slots, listener("fleet", "k_1"), 100)).toBe(64);
    expect(takenBy(slots, listener("fleet", "k_2"), 100)).toBe(64);
    expect(takenBy(slots, listener("fleet", "k_3", true), 1000)).toBe(512);
    expect(slots.inUse).toBe(640);
  });

  test("gives an app half of all, and all apps together no more than all", () => {
    const slots = new ViewerSlots(100);
    expect(takenBy(slots, listener("fleet", "k_1", true), 100)).toBe(50);
    expect(takenBy(slots, listener("rival", "k_2"), 30)).toBe(30);
    expect(takenBy(slots, listener("third", "k_3"), 30)).toBe(20);
    expect(slots.inUse).toBe(100);
  });

  test("has one where it may have one", () => {
    expect(takenBy(new ViewerSlots(1), listener("fleet", "k_1"), 2)).toBe(1);
  });

  test("counts those that are held, whoever takes and leaves in whatever order, and leaves twice", () => {
    const who = fc.constantFrom(listener("a", "k_1"), listener("a", "k_2", true), listener("b", "k_3"));
    const moves = fc.array(fc.oneof(who, fc.nat(20)), { maxLength: 200 });
    fc.assert(
      fc.property(moves, fc.integer({ min: 1, max: 12 }), (all, max) => {
        const slots = new ViewerSlots(max);
        const leaves: (() => void)[] = [];
        const held = new Map<() => void, string>();
        for (const move of all) {
          if (typeof move === "number") {
            leaves[move]?.();
            if (leaves[move] !== undefined) held.delete(leaves[move]);
            continue;
          }
          const ofApp = [...held.values()].filter((appId) => appId === move.appId).length;
          const leave = slots.take(move);
          expect(leave !== null).toBe(held.size < max && ofApp < Math.ceil(max / 2));
          if (leave === null) continue;
          leaves.push(leave);
          held.set(leave, move.appId);
        }
        expect(slots.inUse).toBe(held.size);
      }),
    );
  });
});
