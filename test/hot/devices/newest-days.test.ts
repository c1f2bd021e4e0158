import { expect, test } from "bun:test";
import fc from "fast-check";
import { NewestDays } from "../../../src/hot/devices/newest-days.ts";
import type { UtcDay } from "../../../src/time/utc-day.ts";

const DAY_MS = 86_400_000;

test("NewestDays counts the devices whose newest record is of a day or a later one", () => {
  const change = fc.record({
    device: fc.nat(40),
    day: fc.option(fc.integer({ min: 0, max: 5 })),
    ms: fc.nat(DAY_MS - 1),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 120 }), (changes) => {
      const days = new NewestDays();
      const known = new Map<number, number>();
      for (const { device, day, ms } of changes) {
        if (day !== null) {
          days.set(device, day * DAY_MS + ms);
          known.set(device, day);
        } else if (known.delete(device)) days.remove(device);
        for (let first = 0; first < 7; first++)
          expect(days.countFrom(first as UtcDay)).toBe(
            [...known.values()].filter((each) => each >= first).length,
          );
      }
    }),
  );
});
