import { expect, test } from "bun:test";
import { Semaphore } from "../../../../src/lib/schedule/semaphore.ts";
import { outcome } from "../../../support/rejection.ts";
import { turns } from "../../../support/turns.ts";

test("a semaphore runs so many at once, the others in their order, and goes on after a failure", async () => {
  const semaphore = new Semaphore(2);
  const begun: number[] = [];
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<number>());
  const results = gates.map(({ promise }, index) =>
    semaphore.run("a", () => {
      begun.push(index);
      return promise;
    }),
  );
  await turns();
  expect(begun).toEqual([0, 1]);
  gates[1]!.reject(new Error("broken"));
  expect(await outcome(results[1]!)).toThrow("broken");
  await turns();
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of gates) resolve(7);
  expect(await Promise.all(results.toSpliced(1, 1))).toEqual([7, 7, 7, 7]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(await semaphore.run("a", async () => 8)).toBe(8);
});

test("a semaphore gives owners their turns one after the other, however many pieces one of them has", async () => {
  const semaphore = new Semaphore(1);
  const begun: string[] = [];
  const run = (owner: string) => semaphore.run(owner, async () => begun.push(owner));
  await Promise.all([run("a"), run("a"), run("a"), run("a"), run("b"), run("b")]);
  expect(begun.join("")).toBe("aababa");
});

test("enter() keeps a slot from whoever has all others, and lets so many wait", async () => {
  const slots = new Semaphore(2, { runningOfOwnerMax: 1, waitingMax: 2 });
  expect(slots.enter("a")).toBe(true);
  const waiting = [slots.enter("a"), slots.enter("a")];
  expect(await slots.enter("a")).toBe(false);
  expect(slots.enter("b")).toBe(true);
  const ofB = slots.enter("b"); // The last of `a` gives way.
  expect(await waiting[1]).toBe(false);
  expect([slots.running, slots.waiting]).toEqual([2, 2]);
  slots.leave("b");
  expect(await ofB).toBe(true);
  slots.leave("a");
  expect(await waiting[0]).toBe(true);
  expect([slots.running, slots.waiting]).toEqual([2, 0]);
});
