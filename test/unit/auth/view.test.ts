import { expect, test } from "bun:test";
import { View, type ViewSpec, viewOf } from "../../../src/auth/view.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import * as fc from "../../support/fast-check.ts";

const MINUTE_MS = 60_000;

function spec(more: Partial<ViewSpec> = {}): ViewSpec {
  return { deviceIds: ["bus"] as DeviceId[], notBeforeMs: 0, precisionMeters: null, ...more };
}

const times = fc.integer({ min: 0, max: 20 * MINUTE_MS });
const bounds = fc.oneof(times, fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY));

test("an exact view shows what is of the range, and not before the view", () => {
  fc.assert(
    fc.property(times, times, bounds, bounds, (timeMs, notBeforeMs, startMs, endMs) => {
      const view = new View(spec({ notBeforeMs }));
      const range = view.rangeOf({ startMs, endMs });
      const isShown = timeMs >= range.startMs && timeMs < range.endMs;
      expect(isShown).toBe(timeMs >= notBeforeMs && timeMs >= startMs && timeMs < endMs);
      expect(view.timeOf(timeMs)).toBe(timeMs);
    }),
  );
});

test("a blurred view asks everything of the minute that it shows, so that no bound tells more", () => {
  fc.assert(
    fc.property(times, times, bounds, bounds, (timeMs, notBeforeMs, startMs, endMs) => {
      const view = new View(spec({ notBeforeMs, precisionMeters: 100 }));
      const shownMs = view.timeOf(timeMs);
      expect(shownMs).toBe(timeMs - (timeMs % MINUTE_MS));
      const range = view.rangeOf({ startMs, endMs });
      const isShown = timeMs >= range.startMs && timeMs < range.endMs;
      expect(isShown).toBe(shownMs >= notBeforeMs && shownMs >= startMs && shownMs < endMs);
    }),
  );
});

test("a blurred view shows centers of cells, an exact one the position", () => {
  const [exact, blurred] = [new View(spec()), new View(spec({ precisionMeters: 1000 }))];
  expect(exact.pointOf(53.4471849, -2.917991)).toEqual({ latitude: 53.4471849, longitude: -2.917991 });
  const center = blurred.pointOf(53.4471849, -2.917991);
  expect(center).not.toEqual({ latitude: 53.4471849, longitude: -2.917991 });
  expect(blurred.pointOf(53.4471, -2.9179)).toEqual(center);
  expect([exact.isExact, blurred.isExact]).toEqual([true, false]);
});

test("a view knows its devices, each once and in the order of answers", () => {
  const view = new View(spec({ deviceIds: ["tram", "\u{1f68c}", "bus", "\uffee", "tram"] as DeviceId[] }));
  expect(view.deviceIds as readonly string[]).toEqual(["bus", "tram", "\uffee", "\u{1f68c}"]);
  expect(["bus", "tram", "Bus", "bu", ""].map((id) => view.showsDevice(id))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("views have the same fingerprint where they show the same", () => {
  const specs = [
    spec(),
    spec({ deviceIds: ["bus", "tram"] as DeviceId[] }),
    spec({ notBeforeMs: 1 }),
    spec({ precisionMeters: 100 }),
    spec({ precisionMeters: 101 }),
  ];
  const prints = specs.map((each) => new View(each).fingerprint);
  expect(new Set(prints).size).toBe(specs.length);
  expect(specs.map((each) => new View({ ...each }).fingerprint)).toEqual(prints);
});

test("the view of a key is made once", () => {
  const made = spec();
  expect(viewOf(made)).toBe(viewOf(made));
  expect(viewOf(spec())).not.toBe(viewOf(made));
});
