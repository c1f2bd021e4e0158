import { expect, test } from "bun:test";
import type { Fence, FenceEvent } from "../../../../src/web/fences/fence.ts";
import { eventText, rulesText, scheduleText } from "../../../../src/web/fences/fence-texts.ts";
import { stopRadiusMeters } from "../../../../src/web/fences/stop-radius.ts";

const FENCE: Fence = {
  ...{ type: "Feature", id: "1", updated: 1, geometry: { type: "Point", coordinates: [0, 50] } },
  properties: { radius_meters: 150 },
};

test("rulesText() says what a geofence does, and nothing of what it does not", () => {
  expect(rulesText(FENCE, "metric")).toEqual(["Circle, radius 150 m"]);
  const properties = {
    ...{ radius_meters: 150, active: false, dwell_seconds: 600, silence_minutes: 30, confirmations: 3 },
    ...{ confirm_seconds: 60, initial: "event" as const, devices: ["van"], accuracy_meters_max: 200 },
  } as const;
  expect(rulesText({ ...FENCE, properties }, "metric")).toEqual([
    "Circle, radius 150 m",
    "Tells of a stay of 10 min.",
    "A device that is silent for 30 min leaves.",
    "A device that is inside at first enters.",
    "It makes no events: it is not active.",
    "Changes once 3 positions over 1 min agree.",
    "Applies to 1 device.",
    "Ignores positions less accurate than 200 m.",
  ]);
});

test("scheduleText() names days, hours, zone and exceptions", () => {
  const weekly = [{ days: ["mon", "tue"], from: "22:00", to: "06:00" }];
  expect(scheduleText({ timezone: "Europe/London", weekly, except: ["2026-12-25"] })).toBe(
    "Mon, Tue 22:00 – 06:00, Europe/London, except 1 date",
  );
});

test("eventText() says what happened, how long it was, and why", () => {
  const event = (more: Partial<FenceEvent>): FenceEvent => {
    return { kind: "exit", timestamp: 0, device_id: "van", visit_id: "1", ...more };
  };
  expect(eventText(event({ kind: "enter" }))).toBe("Entered");
  expect(eventText(event({ kind: "dwell" }))).toBe("Stayed");
  expect(eventText(event({ reason: "moved" }))).toBe("Left");
  expect(eventText(event({ duration_seconds: 720, reason: "silent" }))).toBe(
    "Left after 12 min: fell silent",
  );
});

test("the circle of a stop holds its positions, without those that stray, and is neither tiny nor huge", () => {
  const stop = { start: 0, end: 100, latitude: 0, longitude: 0 };
  const track = (meters: readonly number[]) => ({
    count: meters.length,
    timestampMs: meters.map((_, index) => index),
    latitude: meters.map((each) => each / 111_195),
    longitude: meters.map(() => 0),
  });
  const radius = (meters: readonly number[]) =>
    stopRadiusMeters({ stop, startMs: 0, endMs: 100 }, track(meters));
  expect(radius([])).toBe(50);
  expect(radius([1, 2, 3])).toBe(50);
  expect(radius(Array.from({ length: 100 }, (_, index) => (index === 50 ? 5000 : index)))).toBe(130);
  expect(radius([900, 900])).toBe(300);
});
