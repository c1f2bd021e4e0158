import { expect, test } from "bun:test";
import { NewestTimes, Touches } from "../../../../src/hot/devices/device-columns.ts";
import type { UtcDay } from "../../../../src/model/time/utc-day.ts";
import * as fc from "../../../support/fast-check.ts";

test("Touches tells by which entry each device was touched last, and the app", () => {
  const touches = new Touches();
  expect([touches.sequence, touches.sequenceOf(3)]).toEqual([0, 0]);
  touches.note(3, 10);
  touches.note(40, 11);
  touches.note(3, 12);
  expect([3, 40, 4, 41].map((device) => touches.sequenceOf(device))).toEqual([12, 11, 0, 0]);
  expect(touches.sequence).toBe(12);
  touches.remove(3);
  expect([touches.sequenceOf(3), touches.sequence]).toEqual([0, 12]);
});

test("its version is another after every change, of devices that go as well", () => {
  const touches = new Touches();
  const versions = [touches.version];
  touches.note(0, 10);
  versions.push(touches.version);
  touches.note(0, 11);
  versions.push(touches.version);
  touches.remove(0);
  versions.push(touches.version);
  expect(new Set(versions).size).toBe(4);
});

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
