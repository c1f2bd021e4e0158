import { expect, test } from "bun:test";
import { MessageRate, outageSecondsMax } from "../../../../src/service/mqtt/message-rate.ts";
import * as fc from "../../../support/fast-check.ts";

const START_MS = Date.UTC(2026, 2, 20, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function rateAfter(timesMs: readonly number[], nowMs: number): number | null {
  const rate = new MessageRate();
  for (const timeMs of timesMs) rate.note(START_MS + timeMs);
  return rate.perSecond(START_MS + nowMs);
}

test("MessageRate knows nothing in the first minute", () => {
  expect(rateAfter([], HOUR_MS)).toBeNull();
  expect(rateAfter([0, 1, 2], MINUTE_MS - 1)).toBeNull();
  expect(rateAfter([0, 1, 2], MINUTE_MS)).toBe(3 / 60);
});

test("MessageRate forgets what is more than an hour past, and what came in between is counted once", () => {
  const everySecond = Array.from({ length: 3 * 3600 }, (_, second) => second * 1000);
  expect(rateAfter(everySecond, 3 * HOUR_MS)).toBeCloseTo(1, 2);
  expect(rateAfter(everySecond, 3 * HOUR_MS + 30 * MINUTE_MS)).toBeCloseTo(0.5, 1);
  expect(rateAfter(everySecond, 4 * HOUR_MS + MINUTE_MS)).toBe(0);
});

test("MessageRate is what is left of the last hour, by its minutes", () => {
  const times = fc.array(fc.nat(3 * HOUR_MS), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(times, fc.integer({ min: MINUTE_MS, max: 2 * HOUR_MS }), (unsorted, laterMs) => {
      const timesMs = unsorted.toSorted((a, b) => a - b);
      const nowMs = timesMs.at(-1)! + laterMs;
      const firstMinute = Math.floor((START_MS + nowMs) / MINUTE_MS) - 59;
      const kept = timesMs.filter((timeMs) => START_MS + timeMs >= firstMinute * MINUTE_MS).length;
      const overMs = Math.min(nowMs - timesMs[0]!, START_MS + nowMs - firstMinute * MINUTE_MS);
      expect(rateAfter(timesMs, nowMs)).toBeCloseTo(kept / (overMs / 1000), 9);
    }),
  );
});

test("outageSecondsMax() is what the broker keeps, over what comes", () => {
  expect(outageSecondsMax(1000, 0.5)).toBe(2000);
  expect(outageSecondsMax(1000, 0)).toBeNull();
});
