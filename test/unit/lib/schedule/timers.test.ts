import { expect, test } from "bun:test";

import { afterInStep, type Timers } from "../../../../src/lib/schedule/timers.ts";
import * as fc from "../../../support/fast-check.ts";

/** Timers whose only call is made at the time that it was set for, or a little before. */
function createTimers(startMs: number) {
  let nowMs = startMs;
  let next: { readonly ms: number; readonly call: () => void } | null = null;
  const timers: Timers = {
    nowMs: () => nowMs,
    after(ms, call) {
      next = { ms, call };
      return () => {};
    },
  };
  return {
    timers,
    fire(earlyMs: number): number {
      const { ms, call } = next!;
      nowMs += ms - earlyMs;
      call();
      return nowMs;
    },
  };
}

test("afterInStep() calls once for each multiple of the interval, also if a timer fires a little early", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      fc.array(fc.double({ min: 0, max: 15, noNaN: true }), { minLength: 2, maxLength: 20 }),
      (startMs, early) => {
        const { timers, fire } = createTimers(startMs);
        const look = () => afterInStep(timers, 1000, look);
        look();
        const steps = early.map((earlyMs) => Math.round(fire(earlyMs) / 1000));
        const first = Math.floor((startMs + 20) / 1000) + 1;
        expect(steps).toEqual(early.map((_, index) => first + index));
      },
    ),
  );
});
