import { describe, expect, test } from "bun:test";
import { inOneStep, LoopShare, type Steps } from "../../../src/lib/schedule/loop-share.ts";

/** Time passes with steps alone: each takes this long. */
const STEP_MS = 2;

function createShare() {
  let nowMs = 0;
  const log: string[] = [];
  function* steps(name: string, count: number): Steps<string> {
    for (let step = 1; step <= count; step++) {
      log.push(`${name}${step}`);
      nowMs += STEP_MS;
      if (step < count) yield;
    }
    return name;
  }
  return { share: new LoopShare(() => nowMs), steps, log };
}

describe("LoopShare", () => {
  test("does what is short at once, and gives its value", async () => {
    const { share, steps, log } = createShare();
    const done = share.run("a", steps("a", 2));
    expect(log).toEqual(["a1", "a2"]);
    expect(await done).toBe("a");
  });

  test("takes no more than its time of a turn of the event loop", async () => {
    const { share, steps, log } = createShare();
    const done = share.run("a", steps("a", 7));
    expect(log.length).toBe(3); // 6 ms: the third began before 5 were over.
    await new Promise((resolve) => setImmediate(resolve));
    expect(log.length).toBe(6);
    await done;
    expect(log.length).toBe(7);
  });

  test("many short pieces share that time too", async () => {
    const { share, steps, log } = createShare();
    const all = Array.from({ length: 6 }, (_, index) => share.run("a", steps(`${index}.`, 1)));
    expect(log.length).toBe(3);
    await Promise.all(all);
    expect(log).toEqual(["0.1", "1.1", "2.1", "3.1", "4.1", "5.1"]);
  });

  test("gives owners their steps in turns, however much one of them has to do", async () => {
    const { share, steps, log } = createShare();
    const greedy = Array.from({ length: 50 }, (_, index) => share.run("greedy", steps(`g${index}.`, 20)));
    const modest = share.run("modest", steps("m", 3));
    await modest;
    const behind = log.indexOf("m3");
    expect(behind).toBeLessThan(10);
    await Promise.all(greedy);
    expect(log.length).toBe(50 * 20 + 3);
  });

  test("ends single steps of an owner in their order", async () => {
    const { share } = createShare();
    const log: number[] = [];
    const busy = share.run("other", createShare().steps("x", 1));
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        share.run(
          "a",
          inOneStep(() => log.push(index)),
        ),
      ),
    );
    await busy;
    expect(log).toEqual([...log].sort((a, b) => a - b));
    expect(log.length).toBe(100);
  });

  test("a step that throws ends its own work and no other's", async () => {
    const { share, steps } = createShare();
    const others = [share.run("a", steps("a", 9)), share.run("b", steps("b", 9))];
    const failing = (function* (): Steps<void> {
      yield;
      throw new Error("no");
    })();
    await expect(share.run("c", failing)).rejects.toThrow("no");
    expect(await Promise.all(others)).toEqual(["a", "b"]);
  });
});
