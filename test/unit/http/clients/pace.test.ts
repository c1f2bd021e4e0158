import { expect, test } from "bun:test";
import { DelayedAnswers, Pace } from "../../../../src/http/clients/pace.ts";
import { turns } from "../../../support/turns.ts";

/** A key's requests are slowed to its tier's rate, and refused only where they would have to wait too long. */

const NOW_MS = 1_800_000_000_000;

test("a burst is let through at once, then each request waits for its turn", () => {
  const pace = new Pace(5000);
  const delays = Array.from({ length: 25 }, () => pace.delayMs("k", "free", NOW_MS));
  expect(delays).toEqual([...new Array(20).fill(0), 100, 200, 300, 400, 500]);
  expect(pace.delayMs("k", "free", NOW_MS + 500)).toBe(100);
  expect(pace.delayMs("k", "free", NOW_MS + 3000)).toBe(0);
});

test("who would have to wait longer than it may is refused, and loses nothing by it", () => {
  const pace = new Pace(5000);
  const delays = Array.from({ length: 80 }, () => pace.delayMs("k", "free", NOW_MS));
  expect(delays.filter((delay) => delay !== null)).toHaveLength(70);
  expect(delays[69]).toBe(5000);
  expect(pace.delayMs("k", "free", NOW_MS + 100)).toBe(5000);
});

test("a rate that is kept never waits, for any number of requests", () => {
  const pace = new Pace(5000);
  for (let i = 0; i < 1000; i++) expect(pace.delayMs("k", "standard", NOW_MS + i * 10)).toBe(0);
});

test("keys don't wait for each other, and one without a limit never does", () => {
  const pace = new Pace(5000);
  for (let i = 0; i < 100; i++) pace.delayMs("busy", "free", NOW_MS);
  expect(pace.delayMs("other", "free", NOW_MS)).toBe(0);
  for (let i = 0; i < 100_000; i++) expect(pace.delayMs("fast", "unlimited", NOW_MS)).toBe(0);
});

test("a clock that goes back keeps nobody waiting", () => {
  const pace = new Pace(5000);
  for (let i = 0; i < 100; i++) pace.delayMs("k", "free", NOW_MS);
  expect(pace.delayMs("k", "free", NOW_MS - 86_400_000)).toBe(0);
});

test("a key that is in time again is forgotten", () => {
  const pace = new Pace(5000);
  for (let i = 0; i < 10_000; i++) pace.delayMs(`k${i}`, "free", NOW_MS + i * 100);
  expect(pace.size).toBeLessThan(3000);
});

test("of several servers each lets by its part of the burst and of the rate", () => {
  const by = { share: 4 };
  const pace = new Pace(5000, () => by.share);
  const delays = Array.from({ length: 7 }, () => pace.delayMs("k", "free", NOW_MS));
  expect(delays).toEqual([0, 0, 0, 0, 0, 400, 800]);
  by.share = 1; // No burst comes of it.
  expect(pace.delayMs("k", "free", NOW_MS)).toBe(900);
});

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
  const held = new DelayedAnswers({ max: 10, wait, stopping: NEVER });
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
  const held = new DelayedAnswers({ max: 10, wait, stopping: stopping.signal });
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
  const held = new DelayedAnswers({ max: 200, wait, stopping: NEVER });
  const count = (keyOf: (i: number) => string, app: string) =>
    Array.from({ length: 300 }, (_, i) => held.hold(holderOf(keyOf(i), app), 5000, NEVER)).filter(
      (holding) => holding !== null,
    ).length;
  expect(count(() => "one", "storm")).toBe(67);
  expect(count((i) => `another ${i}`, "storm")).toBe(33);
  expect(count((i) => `key ${i}`, "calm")).toBeGreaterThan(40);
  expect(held.size).toBeLessThanOrEqual(200);
});
