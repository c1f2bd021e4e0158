import { expect, test } from "bun:test";
import { forEachAtOnce, Semaphore } from "../../../../src/lib/schedule/semaphore.ts";
import * as fc from "../../../support/fast-check.ts";
import { outcome } from "../../../support/rejection.ts";
import { turns } from "../../../support/turns.ts";

test("a semaphore runs two at once, the others in their order, and goes on after a failure", async () => {
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

test("enter() keeps a slot from an owner that has all others, and lets two wait", async () => {
  const slots = new Semaphore(2, { runningOfOwnerMax: 1, waitingMax: 2 });
  expect(slots.enter("a")).toBe("alone");
  const waiting = [slots.enter("a"), slots.enter("a")];
  expect(slots.enter("a")).toBe("refused");
  expect(slots.enter("b")).toBe("alone");
  const ofB = slots.enter("b"); // The last of `a` gives way.
  expect(await waiting[1]).toBe("refused");
  expect([slots.running, slots.waiting]).toEqual([2, 2]);
  slots.leave("b");
  expect(await ofB).toBe("alone");
  slots.leave("a");
  expect(await waiting[0]).toBe("alone");
  expect([slots.running, slots.waiting]).toEqual([2, 0]);
});

test("enter() adds weights up, keeps each owner's order, and lets too heavy work run by itself", async () => {
  const lanes = new Semaphore(Number.POSITIVE_INFINITY, { runningOfOwnerMax: 10 });
  const heard: string[] = [];
  const enter = async (name: string, weight: number) => {
    const admission = await lanes.enter("a", { weight });
    heard.push(name, admission);
  };
  expect(lanes.enter("a", { weight: 6 })).toBe("alone");
  expect(lanes.enter("a", { weight: 4 })).toBe("beside");
  expect(lanes.enter("b", { weight: 11 })).toBe("alone");
  const waiting = [enter("too heavy", 11), enter("light", 1), enter("light too", 1)];
  lanes.leave("a", 6);
  await turns();
  expect([heard, lanes.running, lanes.waiting]).toEqual([[], 15, 3]); // The light ones do not overtake.
  lanes.leave("a", 4);
  await waiting[0];
  expect(heard.splice(0)).toEqual(["too heavy", "alone"]);
  lanes.leave("a", 11);
  await Promise.all(waiting);
  expect(heard).toEqual(["light", "alone", "light too", "beside"]);
});

test("turnAway() refuses what waits of one owner, and an abort ends one wait", async () => {
  const semaphore = new Semaphore(2, { runningOfOwnerMax: 1 });
  for (const owner of ["a", "b"]) expect(semaphore.enter(owner)).toBe("alone");
  const client = new AbortController();
  const ofA = [semaphore.enter("a"), semaphore.enter("a", { signal: client.signal }), semaphore.enter("a")];
  const ofB = semaphore.enter("b");
  client.abort(new Error("left"));
  expect(await outcome(ofA[1] as Promise<unknown>)).toThrow("left");
  semaphore.turnAway("a");
  expect([await ofA[0], await ofA[2], semaphore.waiting]).toEqual(["refused", "refused", 1]);
  semaphore.leave("b");
  expect(await ofB).toBe("alone");
});

/** Work that ends when the test says so. */
function createWork() {
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const work = () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  return { ends, work };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("an abort of heavy work lets lighter work of its owner run that waits behind it", async () => {
  const semaphore = new Semaphore(Number.POSITIVE_INFINITY, { runningOfOwnerMax: 10 });
  expect(semaphore.enter("a", { weight: 6 })).toBe("alone");
  const leaving = new AbortController();
  const heavy = outcome(Promise.resolve(semaphore.enter("a", { weight: 9, signal: leaving.signal })));
  const light = semaphore.enter("a");
  leaving.abort(new Error("left"));
  expect(await light).toBe("beside");
  expect(await heavy).toThrow("left");
  expect([semaphore.running, semaphore.waiting]).toEqual([7, 0]);
});

test("every item is worked on once, in order, never more at once than asked for", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(3), { maxLength: 20 }),
      fc.integer({ min: 1, max: 4 }),
      async (turns, max) => {
        const begun: number[] = [];
        let running = 0;
        let runningMax = 0;
        await forEachAtOnce([...turns.keys()], max, async (index) => {
          begun.push(index);
          runningMax = Math.max(runningMax, ++running);
          for (let left = turns[index]!; left > 0; left--) await null;
          running--;
        });
        expect(begun).toEqual([...turns.keys()]);
        expect(running).toBe(0);
        expect(runningMax).toBeLessThanOrEqual(max);
      },
    ),
  );
});

test("after a failure nothing is begun, and it rejects once what is under way has ended", async () => {
  const { ends, work } = createWork();
  let failure: unknown = null;
  const all = forEachAtOnce([1, 2, 3, 4], 2, work).catch((error) => {
    failure = error;
  });
  ends[0]!.reject(new Error("the first"));
  await turn();
  expect([ends.length, failure]).toEqual([2, null]);
  ends[1]!.reject(new Error("the second"));
  await all;
  expect(failure).toEqual(new Error("the first"));
  expect(ends).toHaveLength(2);
});
