import { expect, test } from "bun:test";
import { REFUSAL_REASONS } from "../../../../src/clients/refusal.ts";
import {
  type HeardRequest,
  leftOutText,
  placeText,
  refusalText,
  speedAdvice,
  understoodText,
} from "../../../../src/web/keys/first-report.ts";

const REQUEST: HeardRequest = {
  received: 1,
  client: "owntracks",
  taken: 0,
  refused_count: 0,
  refused: [],
  left_out: [],
  timed_by_arrival: 0,
  skipped: [],
};

test("what was understood is said with its units", () => {
  const report = { latitude: 51.5, longitude: -0.12, speed: 3.04, battery_level: 81 };
  expect(understoodText(report, "metric")).toBe("speed 11 km/h, battery 81 %");
  expect(understoodText(report, "miles")).toBe("speed 7 mph, battery 81 %");
  expect(speedAdvice(report)).toContain("?speed_unit=kmh");
  expect(speedAdvice({})).toBeNull();
  expect(placeText(report.latitude, report.longitude)).toBe("51.50, -0.12");
  const more = { ...report, speed: 0, bearing: 12, altitude: 9.96, horizontal_accuracy: 5, type: "MOVING" };
  expect(understoodText(more, "metric")).toBe(
    "speed 0 km/h, heading 12°, altitude 10 m, within 5 m, battery 81 %, moving",
  );
  expect(understoodText({ latitude: 1, longitude: 2 }, "metric")).toBe("nothing but where and when");
});

test("every reason for a refusal has its words", () => {
  for (const reason of [...REFUSAL_REASONS, "invalid"]) {
    const text = refusalText({ ...REQUEST, refused_count: 1, refused: [{ reason }] });
    expect(text).toStartWith("A point could not be used: ");
    expect(text).not.toEndWith(`: ${reason}.`);
  }
});

test("what was refused is said only where nothing was taken", () => {
  const refused = [{ reason: "future", detail: "2 h ahead" }];
  expect(refusalText({ ...REQUEST, refused_count: 2, refused })).toBe(
    "2 points could not be used: its time is in the future: set the phone's clock (2 h ahead).",
  );
  expect(refusalText({ ...REQUEST, taken: 1, refused_count: 2, refused })).toBeNull();
  expect(refusalText({ ...REQUEST, skipped: [{ what: "visit", count: 1 }] })).toContain("visit");
  expect(refusalText(REQUEST)).toBeNull();
});

test("fields that were left out are named", () => {
  expect(leftOutText(REQUEST)).toBeNull();
  const left_out = [
    { field: "speed", reason: "unreadable", count: 2 },
    { field: "altitude", reason: "out_of_range", count: 1 },
  ] as const;
  expect(leftOutText({ ...REQUEST, left_out })).toBe(
    "Left out: speed (can't be read), altitude (out of range).",
  );
  expect(leftOutText({ ...REQUEST, timed_by_arrival: 1 })).toBe(
    "It came without a time, so it has that of its arrival.",
  );
});
