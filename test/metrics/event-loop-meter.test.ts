import { expect, test } from "bun:test";
import { watchEventLoop } from "../../src/metrics/event-loop-meter.ts";

test("watchEventLoop() sees how long the loop was held up", async () => {
  const heldUpMs: number[] = [];
  const meter = watchEventLoop((delayMs) => heldUpMs.push(delayMs));
  await Bun.sleep(120); // The first look comes on time.
  const until = performance.now() + 1200;
  while (performance.now() < until); // Nothing else can happen meanwhile.
  await Bun.sleep(60);
  meter.stop();
  const { counts, boundsSeconds } = meter.delays;
  const overSecond = counts.slice(boundsSeconds.indexOf(1) + 1).reduce((sum, count) => sum + count, 0);
  expect(overSecond).toBe(1);
  expect(heldUpMs).toHaveLength(1);
  expect(heldUpMs[0]).toBeGreaterThan(1000);
});
