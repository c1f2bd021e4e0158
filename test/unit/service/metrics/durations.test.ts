import { expect, test } from "bun:test";
import { Durations } from "../../../../src/service/metrics/durations.ts";

test("Durations counts each in the first bucket whose bound it does not exceed", () => {
  const durations = new Durations([0.001, 0.01]);
  for (const ms of [0, 1, 1.001, 10, 10.5, 60_000]) durations.add(ms);
  expect([...durations.counts]).toEqual([2, 2, 2]);
  expect(durations.sumSeconds).toBeCloseTo(60.022501, 9);
});
