import { expect, test } from "bun:test";
import { NewestTimes } from "../../../../src/hot/devices/newest-times.ts";
import type { UtcDay } from "../../../../src/model/time/utc-day.ts";
import * as fc from "../../../support/fast-check.ts";

const DAY_MS = 86_400_000;

test("NewestTimes knows each device's time, and counts devices of a day or a later one", () => {
  const change = fc.record({
    device: fc.nat(40),
    timeMs: fc.option(fc.integer({ min: 0, max: 6 * DAY_MS - 1 })),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 120 }), (changes) => {
      const times = new NewestTimes();
      const known = new Map<number, number>();
      for (const { device, timeMs } of changes) {
        if (timeMs !== null) {
          times.set(device, timeMs);
          known.set(device, timeMs);
        } else if (known.delete(device)) times.remove(device);
        for (let first = 0; first < 7; first++)
          expect(times.countFrom(first as UtcDay)).toBe(
            [...known.values()].filter((each) => each >= first * DAY_MS).length,
          );
      }
      for (const [device, timeMs] of known) expect(times.of(device)).toBe(timeMs);
    }),
  );
});
