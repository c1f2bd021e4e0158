import { expect, test } from "bun:test";
import { watchEventLoop } from "../../src/metrics/event-loop-meter.ts";

test("watchEventLoop() sees how long the loop was held up", async () => {
  const meter = watchEventLoop();
  await Bun.sleep(120); // The first look comes on time.
  const until = performance.now() + 400;
  while (performance.now() < until); // Nothing else can happen meanwhile.
  await Bun.sleep(60);
  meter.stop();
  const { counts, boundsSeconds } = meter.delays;
  const overQuarter = counts.slice(boundsSeconds.indexOf(0.25) + 1).reduce((sum, count) => sum + count, 0);
  expect(overQuarter).toBe(1);
});
