import { expect, test } from "bun:test";
import { HeldAnswers } from "../../../../src/http/clients/held-answers.ts";
import { turns } from "../../../support/turns.ts";

/** Answers that are late on purpose take their share of a pool, and no longer than somebody waits for them. */

const NEVER = new AbortController().signal;
const holderOf = (keyId: string, appId = keyId) => ({ appId, keyId });

/** Time that passes when the test says so. */
function createTime() {
  const waits: { ms: number; end(): void }[] = [];
  return {
    waits,
    async pass() {
      for (const { end } of waits.splice(0)) end();
      await turns();
    },
    wait: (ms: number, signal: AbortSignal) =>
      new Promise<void>((end) => {
        waits.push({ ms, end });
        signal.addEventListener("abort", () => end());
      }),
  };
}

test("an answer is held for so long, and its place is free again", async () => {
  const { wait, waits, pass } = createTime();
  const held = new HeldAnswers({ max: 10, wait, stopping: NEVER });
  let isDone = false;
  const holding = held.hold(holderOf("a"), 600, NEVER)!.then(() => {
    isDone = true;
  });
  expect([isDone, held.size, waits.map(({ ms }) => ms)]).toEqual([false, 1, [600]]);
  await pass();
  await holding;
  expect(held.size).toBe(0);
});

test("nothing is held for a client that has gone, or while the server stops", async () => {
  const { wait } = createTime();
  const stopping = new AbortController();
  const held = new HeldAnswers({ max: 10, wait, stopping: stopping.signal });
  const gone = new AbortController();
  const left = held.hold(holderOf("a"), 60_000, gone.signal)!;
  gone.abort();
  await left;
  expect(held.size).toBe(0);
  const stopped = held.hold(holderOf("a"), 60_000, NEVER)!;
  stopping.abort();
  await stopped;
  await held.hold(holderOf("a"), 60_000, NEVER);
  expect(held.size).toBe(0);
});

test("no key and no app takes all places, and beyond them nothing is held", () => {
  const { wait } = createTime();
  const held = new HeldAnswers({ max: 200, wait, stopping: NEVER });
  const count = (keyOf: (i: number) => string, app: string) =>
    Array.from({ length: 300 }, (_, i) => held.hold(holderOf(keyOf(i), app), 5000, NEVER)).filter(
      (holding) => holding !== null,
    ).length;
  expect(count(() => "one", "storm")).toBe(67);
  expect(count((i) => `another ${i}`, "storm")).toBe(33);
  expect(count((i) => `key ${i}`, "calm")).toBeGreaterThan(40);
  expect(held.size).toBeLessThanOrEqual(200);
});
