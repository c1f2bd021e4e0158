import { expect, test } from "bun:test";
import { forEachAtOnce } from "../../../../src/lib/schedule/for-each-at-once.ts";
import * as fc from "../../../support/fast-check.ts";

/** Work that ends when the test says so. */
function createWork() {
  const ends: { resolve(): void; reject(error: Error): void }[] = [];
  const work = () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  return { ends, work };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

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
