import { expect, test } from "bun:test";
import { REFUSAL_REASONS } from "../../../src/clients/refusal.ts";
import {
  type HeardRequest,
  leftOutText,
  placeText,
  refusalText,
  understoodText,
} from "../../../src/web/keys/heard.ts";

const REQUEST: HeardRequest = {
  received: 1,
  client: "owntracks",
  taken: 0,
  refused_count: 0,
  refused: [],
  left_out: [],
  skipped: [],
};

test("what was understood is said with its units", () => {
  const report = { latitude: 51.5, longitude: -0.12, speed: 3.04, battery_level: 81 };
  expect(understoodText(report)).toBe("speed 3 m/s, battery 81 %");
  expect(placeText(report.latitude, report.longitude)).toBe("51.50, -0.12");
  const more = { ...report, speed: 0, bearing: 12, altitude: 9.96, horizontal_accuracy: 5, type: "MOVING" };
  expect(understoodText(more)).toBe(
    "speed 0 m/s, heading 12°, altitude 10 m, within 5 m, battery 81 %, moving",
  );
  expect(understoodText({ latitude: 1, longitude: 2 })).toBe("nothing but where and when");
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
  expect(leftOutText({ ...REQUEST, left_out: [{ field: "speed", count: 2 }] })).toContain("speed");
});
