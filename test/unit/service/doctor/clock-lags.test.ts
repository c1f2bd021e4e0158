import { expect, test } from "bun:test";
import { ClockLags } from "../../../../src/service/doctor/clock-lags.ts";
import * as fc from "../../../support/fast-check.ts";

const START_MS = Date.UTC(2026, 2, 20, 12);

/** The obvious way: of each of the last 15 minutes the shortest lag, of those the lowest five within half a minute. */
function obviousMedian(points: readonly { atMs: number; lagMs: number }[]): number | null {
  const shortest = new Map<number, number>();
  for (const { atMs, lagMs } of points) {
    const minute = Math.floor((START_MS + atMs) / 60_000);
    shortest.set(minute, Math.min(shortest.get(minute) ?? Number.POSITIVE_INFINITY, lagMs / 1000));
  }
  const lags = [...shortest.values()].slice(-15).sort((a, b) => a - b);
  for (const lowest of lags) {
    const fresh = lags.filter((lag) => lag >= lowest && lag <= lowest + 30);
    if (fresh.length < 5) continue;
    const middle = (fresh.length - 1) / 2;
    return (fresh[Math.floor(middle)]! + fresh[Math.ceil(middle)]!) / 2;
  }
  return null;
}

test("fresh are points whose lags lie within half a minute", () => {
  const medianOf = (lagSeconds: readonly number[]) => {
    const clock = new ClockLags();
    for (const [minute, lag] of lagSeconds.entries()) {
      const arrivedMs = START_MS + minute * 60_000;
      clock.note(0, arrivedMs, arrivedMs - lag * 1000);
    }
    return clock.medianSeconds(0);
  };
  expect(medianOf([90, 120, 100, 110, 90])).toBe(100);
  expect(medianOf([90, 120.5, 100, 110, 90])).toBeNull();
  expect(medianOf([-500, 90, 120, 3000, 100, 110, 90])).toBe(100);
});

test("ClockLags.medianSeconds() is what the obvious way says", () => {
  const lags = fc.oneof(
    fc.integer({ min: -4, max: 4 }).map((seconds) => seconds * 1000),
    fc.integer({ min: -1200, max: 7200 }).map((half) => half * 500),
  );
  const points = fc.array(fc.record({ gapMs: fc.integer({ min: 1, max: 90_000 }), lagMs: lags }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(points, (points) => {
      const clock = new ClockLags();
      const noted: { atMs: number; lagMs: number }[] = [];
      let atMs = 0;
      for (const { gapMs, lagMs } of points) {
        atMs += gapMs;
        clock.note(3, START_MS + atMs, START_MS + atMs - lagMs);
        noted.push({ atMs, lagMs });
      }
      expect(clock.medianSeconds(3)).toBe(obviousMedian(noted));
      expect(clock.medianSeconds(4)).toBeNull();
    }),
  );
});
