import { expect, test } from "bun:test";
import { MemoryCompactor } from "../../../../src/service/upkeep/memory-compactor.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";
import { until } from "../../../support/until.ts";

const NOW_MS = Date.UTC(2026, 0, 15, 12);
const HOUR_MS = 3_600_000;
const clock = { nowMs: () => NOW_MS };

/** Says for what it was asked, how many steps were taken, and how many of them in a turn that had had one. */
function createStore(steps: number) {
  let isTurnOver = true;
  const store = {
    asked: [] as number[],
    steps: 0,
    stepsTogether: 0,
    *pack(beforeMs: number) {
      store.asked.push(beforeMs);
      for (; store.steps < steps; store.steps++) {
        if (!isTurnOver) store.stepsTogether++;
        isTurnOver = false;
        setImmediate(() => {
          isTurnOver = true;
        });
        yield;
      }
    },
  };
  return store;
}

test("what is older than an hour is packed at once, a step in a turn", async () => {
  const store = createStore(50);
  const time = new VirtualTime();
  const compactor = new MemoryCompactor(store, clock, time);
  compactor.start();
  await time.until(time.wait(1));
  await until(() => store.steps === 50);
  expect(store.asked).toEqual([NOW_MS - HOUR_MS]);
  expect(store.stepsTogether).toBe(0);
  await time.until(time.wait(HOUR_MS / 2 + 10));
  expect(store.asked).toHaveLength(1 + 6); // Every five minutes.
  compactor.stop();
  expect(time.planned).toBe(0);
});

test("nothing is packed once it was told to stop", async () => {
  const store = createStore(Number.POSITIVE_INFINITY);
  const time = new VirtualTime();
  const compactor = new MemoryCompactor(store, clock, time);
  compactor.start();
  await time.until(time.wait(1));
  await until(() => store.steps > 2);
  compactor.stop();
  const { steps } = store;
  await turns();
  expect(store.steps).toBeLessThanOrEqual(steps + 1);

  const never = createStore(1);
  const stopped = new MemoryCompactor(never, clock, time);
  stopped.start();
  stopped.stop();
  await time.until(time.wait(HOUR_MS));
  expect(never.asked).toEqual([]);
});
