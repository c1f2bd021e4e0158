import { expect, test } from "bun:test";
import { LapseClock, usualRate } from "../../../../src/web/lapse/lapse-clock.ts";

const RANGE = { startMs: 1_000_000, endMs: 1_000_000 + 86_400_000 };

function loadedClock(): LapseClock {
  const clock = new LapseClock(RANGE);
  clock.loadedTo(RANGE.endMs);
  return clock;
}

test("a clock runs at its rate, and stops at the end", () => {
  const clock = loadedClock();
  clock.setRate(600, 0);
  clock.play(500);
  clock.advance(1500);
  expect(clock.clockMs).toBe(RANGE.startMs + 600_000);
  clock.advance(1_000_000);
  expect([clock.clockMs, clock.isPlaying]).toEqual([RANGE.endMs, false]);
});

test("a clock at the end begins again", () => {
  const clock = loadedClock();
  clock.seek(RANGE.endMs, 0);
  clock.play(0);
  expect([clock.clockMs, clock.isPlaying]).toEqual([RANGE.startMs, true]);
});

test("a clock waits where nothing is loaded yet, and runs on from there", () => {
  const clock = new LapseClock(RANGE);
  clock.setRate(10, 0);
  clock.loadedTo(RANGE.startMs + 5000);
  clock.play(0);
  clock.advance(900);
  expect([clock.clockMs, clock.isWaiting]).toEqual([RANGE.startMs + 5000, true]);
  clock.loadedTo(RANGE.endMs);
  clock.advance(1000);
  expect([clock.clockMs, clock.isWaiting]).toEqual([RANGE.startMs + 6000, false]);
});

test("seeking stays within the loaded part, and playing goes on from there", () => {
  const clock = new LapseClock(RANGE);
  clock.loadedTo(RANGE.startMs + 60_000);
  clock.seek(RANGE.endMs, 0);
  expect(clock.clockMs).toBe(RANGE.startMs + 60_000);
  clock.seek(0, 0);
  expect(clock.clockMs).toBe(RANGE.startMs);
  clock.setRate(10, 0);
  clock.play(0);
  clock.seek(RANGE.startMs + 1000, 700);
  clock.advance(800);
  expect(clock.clockMs).toBe(RANGE.startMs + 2000);
});

test("a pause keeps the time until it began, and another rate counts from its choice on", () => {
  const clock = loadedClock();
  clock.setRate(10, 0);
  clock.play(0);
  clock.setRate(60, 1000);
  clock.pause(2000);
  clock.advance(9000);
  expect([clock.clockMs, clock.isPlaying]).toEqual([RANGE.startMs + 70_000, false]);
});

test("rates follow each other up and down, to the ends", () => {
  const clock = loadedClock();
  clock.setRate(1800, 0);
  clock.changeRate(1, 0);
  clock.changeRate(1, 0);
  expect(clock.rate).toBe(3600);
  for (let step = 0; step < 20; step++) clock.changeRate(-1, 0);
  expect(clock.rate).toBe(10);
});

test("an hour takes less than two minutes by itself, and so does a day", () => {
  expect(usualRate({ startMs: 0, endMs: 3_600_000 })).toBe(60);
  expect(usualRate({ startMs: 0, endMs: 86_400_000 })).toBe(1800);
  expect(usualRate({ startMs: 0, endMs: 7 * 86_400_000 })).toBe(3600);
});

test("a range that begins where the first device appears has the rate of what is left", () => {
  const clock = new LapseClock(RANGE);
  const startMs = RANGE.endMs - 3_600_000;
  clock.beginAt(startMs);
  expect({ range: clock.range, clockMs: clock.clockMs, rate: clock.rate }).toEqual({
    range: { startMs, endMs: RANGE.endMs },
    clockMs: startMs,
    rate: 60,
  });
});
