import { expect, test } from "bun:test";
import { FairQueue } from "../../../../src/lib/schedule/fair-queue.ts";
import * as fc from "../../../support/fast-check.ts";

test("take() goes from line to line, and through each from its beginning", () => {
  const queue = new FairQueue<string, number>();
  for (const item of [1, 2, 3, 4]) queue.add("busy", item);
  queue.add("calm", 5);
  queue.add("late", 6);
  const taken = Array.from({ length: 7 }, () => queue.take()?.[1] ?? null);
  expect(taken).toEqual([1, 5, 6, 2, 3, 4, null]);
});

test("take() passes over who may not, and that line keeps its turn", () => {
  const queue = new FairQueue<string, number>();
  queue.add("first", 1);
  queue.add("second", 2);
  queue.add("second", 3);
  expect(queue.take((key) => key !== "first")).toEqual(["second", 2]);
  expect(queue.take(() => false)).toBe(null);
  expect(queue.take()).toEqual(["first", 1]);
  expect([queue.size, queue.countOf("first"), queue.countOf("second")]).toEqual([1, 0, 1]);
});

test("takeOf() takes the first of one line, and leaves the turns as they are", () => {
  const queue = new FairQueue<string, number>();
  queue.add("first", 1);
  queue.add("second", 2);
  queue.add("second", 3);
  expect([queue.takeOf("second"), queue.takeOf("nobody"), queue.size]).toEqual([2, null, 2]);
  expect([queue.takeOf("second"), queue.takeOf("second"), queue.countOf("second")]).toEqual([3, null, 0]);
  expect(queue.take()).toEqual(["first", 1]);
});

test("nobody waits longer than a round of all lines, and nothing is lost or taken twice", () => {
  const steps = fc.array(fc.record({ key: fc.nat(3), act: fc.constantFrom("add", "add", "take", "delete") }));
  fc.assert(
    fc.property(steps, (acts) => {
      const queue = new FairQueue<number, number>();
      const plain: { key: number; item: number; passedBy: number[] }[] = [];
      acts.forEach(({ key, act }, item) => {
        if (act === "add") {
          queue.add(key, item);
          plain.push({ key, item, passedBy: [] });
        } else if (act === "take") {
          const taken = queue.take();
          const at = plain.findIndex((waiting) => waiting.item === taken?.[1]);
          expect(taken === null).toBe(plain.length === 0);
          if (taken === null) return;
          expect(plain.slice(0, at).some((before) => before.key === taken[0])).toBe(false);
          plain.splice(at, 1);
          for (const head of heads(plain)) {
            if (head.key === taken[0]) continue;
            head.passedBy.push(taken[0]);
            expect(new Set(head.passedBy).size).toBe(head.passedBy.length); // Each other line once, at most.
          }
        } else {
          const at = plain.findLastIndex((waiting) => waiting.key === key);
          if (at !== -1) queue.delete(key, plain.splice(at, 1)[0]!.item);
        }
        expect(queue.size).toBe(plain.length);
        const longest = queue.lastOfLongest();
        expect(longest === null ? 0 : queue.countOf(longest[0])).toBe(
          Math.max(0, ...[0, 1, 2, 3].map((of) => plain.filter((waiting) => waiting.key === of).length)),
        );
      });
    }),
  );
});

function heads<Waiting extends { key: number }>(plain: readonly Waiting[]): Waiting[] {
  return plain.filter(({ key }, index) => plain.findIndex((waiting) => waiting.key === key) === index);
}
