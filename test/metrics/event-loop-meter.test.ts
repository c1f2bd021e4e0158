import { expect, test } from "bun:test";
import { watchEventLoop } from "../../src/metrics/event-loop-meter.ts";

/** Nothing else can happen meanwhile. */
function holdFor(durationMs: number): void {
  const untilMs = performance.now() + durationMs;
  while (performance.now() < untilMs);
}

test("watchEventLoop() sees how long the loop was held up", async () => {
  const heldUpMs: number[] = [];
  const meter = watchEventLoop((delayMs) => heldUpMs.push(delayMs));
  await Bun.sleep(120); // The first looks come on time.
  holdFor(1200);
  await Bun.sleep(60);
  meter.stop();
  const { counts, boundsSeconds } = meter.delays;
  const overSecond = counts.slice(boundsSeconds.indexOf(1) + 1).reduce((sum, count) => sum + count, 0);
  expect(overSecond).toBe(1);
  expect(heldUpMs).toHaveLength(1);
  expect(heldUpMs[0]).toBeGreaterThan(1000);
});

test("takeLongestMs() tells a hold of 50 ms within 10 ms, whenever it began, and each only once", async () => {
  const meter = watchEventLoop(() => {});
  for (let beginMs = 0; beginMs < 10; beginMs++) {
    await Bun.sleep(beginMs);
    meter.takeLongestMs();
    holdFor(50);
    await Bun.sleep(0);
    expect(meter.takeLongestMs()).toBeGreaterThanOrEqual(39); // A timer may be a millisecond early.
  }
  meter.stop();
});

test("takeLongestMs() counts a hold that no timer has seen the end of yet", () => {
  const meter = watchEventLoop(() => {});
  holdFor(60);
  expect(meter.takeLongestMs()).toBeGreaterThanOrEqual(49);
  expect(meter.takeLongestMs()).toBeGreaterThanOrEqual(49); // It is still going on.
  meter.stop();
});
