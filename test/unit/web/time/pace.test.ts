import { expect, test } from "bun:test";
import { Pace, type PaceClock } from "../../../../src/web/time/pace.ts";

function createClock() {
  let nowMs = 1000;
  let waiting: { readonly atMs: number; readonly run: () => void } | null = null;
  const clock: PaceClock = {
    now: () => nowMs,
    after: (ms, run) => {
      expect(waiting).toBeNull();
      waiting = { atMs: nowMs + ms, run };
    },
  };
  /** Lets time pass up to the next run; returns when it is. */
  const next = () => {
    const { atMs, run } = waiting!;
    waiting = null;
    nowMs = atMs;
    run();
    return atMs;
  };
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { clock, next, pass, isWaiting: () => waiting !== null };
}

test("Pace runs once for many changes, at once and then after a pause", () => {
  const { clock, next, pass, isWaiting } = createClock();
  let runs = 0;
  const pace = new Pace(() => runs++, 200, clock);
  pace.soon();
  pace.soon();
  expect(next()).toBe(1000);
  expect([runs, isWaiting()]).toEqual([1, false]);
  pass(50);
  pace.soon();
  expect(next()).toBe(1200);
  pass(900);
  pace.soon();
  expect(next()).toBe(2100);
  expect(runs).toBe(3);
});

test("Pace pauses longer after slow work, and work may ask for more", () => {
  const { clock, next, pass } = createClock();
  const slow = new Pace(() => pass(40), 200, clock);
  slow.soon();
  next();
  slow.soon();
  expect(next()).toBe(1440); // From 1,000 to 1,040, then ten times as long.

  const again: Pace = new Pace(() => again.soon(), 200, clock);
  again.soon();
  expect(next()).toBe(1480);
  expect(next()).toBe(1680);
});
