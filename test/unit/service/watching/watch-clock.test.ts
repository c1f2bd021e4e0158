import { expect, test } from "bun:test";
import { fail, ok } from "../../../../src/lib/result.ts";
import { WatchClock } from "../../../../src/service/watching/watch-clock.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";

const NOW_MS = Date.UTC(2026, 2, 20);
const MINUTE_MS = 60_000;

function createTicking(isNode = false) {
  const time = new VirtualTime();
  let pausedMs = 0;
  const timers = {
    nowMs: () => time.nowMs() + pausedMs,
    after: (ms: number, call: () => void) => time.after(ms, call),
  };
  const watches = { needsClock: true, clockMs: 0 };
  let isFull = false;
  const watchClock = new WatchClock({
    hot: { watches: watches as never },
    async append(entry) {
      if (isFull) return fail({ kind: "log_full" });
      if (entry.kind === "watch_clock") watches.clockMs = entry.atMs;
      return ok(1);
    },
    clock: { nowMs: () => NOW_MS + timers.nowMs() },
    timers,
  });
  if (!isNode) watchClock.start();
  return {
    watches,
    watchClock,
    setFull: (value: boolean) => {
      isFull = value;
    },
    /** Stops the process for some minutes. */
    pause: (minutes: number) => {
      pausedMs += minutes * MINUTE_MS;
    },
    /** Minutes that the clock has reached after some more. */
    async pass(minutes: number) {
      await time.pass(minutes * MINUTE_MS);
      return watches.clockMs === 0 ? null : (watches.clockMs - NOW_MS) / MINUTE_MS;
    },
  };
}

test("WatchClock follows the time of day from ten minutes after a start on", async () => {
  const ticking = createTicking();
  expect(await ticking.pass(9)).toBeNull();
  expect(await ticking.pass(3)).toBe(12);
  expect(await ticking.pass(1)).toBe(13);
});

test("WatchClock stands still while nothing needs it", async () => {
  const ticking = createTicking();
  ticking.watches.needsClock = false;
  expect(await ticking.pass(20)).toBeNull();
});

test("WatchClock stands still for ten minutes after reports were refused, and after a pause of the process", async () => {
  const ticking = createTicking();
  expect(await ticking.pass(12)).toBe(12);
  ticking.setFull(true);
  expect(await ticking.pass(2)).toBe(12);
  ticking.setFull(false);
  expect(await ticking.pass(7)).toBe(12);
  expect(await ticking.pass(4)).toBe(25);
  ticking.pause(30);
  expect(await ticking.pass(9)).toBe(25);
  expect(await ticking.pass(2)).toBe(66);
});

test("takeOver() moves the clock at once if another node moved it just before, otherwise after ten minutes", async () => {
  const { watches, watchClock, pass } = createTicking(true);
  watches.clockMs = NOW_MS - 20_000;
  watchClock.takeOver();
  expect(await pass(1)).toBe(1);
  await watchClock.stop();
  expect(await pass(2)).toBe(1);
  watchClock.takeOver();
  expect(await pass(9)).toBe(1);
  expect(await pass(2)).toBe(14);
});
