import { expect, test } from "bun:test";
import { nextTurn } from "../../src/lib/schedule/next-turn.ts";
import { Packing } from "../../src/service/packing.ts";

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

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(1);
}

test("what is older than an hour is packed at once, a step in a turn", async () => {
  const store = createStore(50);
  const packing = new Packing(store, clock);
  packing.start();
  await until(() => store.steps === 50);
  packing.stop();
  expect(store.asked).toEqual([NOW_MS - HOUR_MS]);
  expect(store.stepsTogether).toBe(0);
});

test("nothing is packed once it was told to stop", async () => {
  const store = createStore(Number.POSITIVE_INFINITY);
  const packing = new Packing(store, clock);
  packing.start();
  await until(() => store.steps > 2);
  packing.stop();
  await nextTurn();
  const { steps } = store;
  await Bun.sleep(20);
  expect(store.steps).toBeLessThanOrEqual(steps + 1);

  const never = createStore(1);
  const stopped = new Packing(never, clock);
  stopped.start();
  stopped.stop();
  await Bun.sleep(20);
  expect(never.asked).toEqual([]);
});
