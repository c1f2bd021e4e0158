import { expect, test } from "bun:test";
import type { Alert } from "../../../../src/web/alerts/alert.ts";
import { bodyOf, draftOf, faultOf, newAlert } from "../../../../src/web/alerts/alert-draft.ts";
import { alertName, alertRules } from "../../../../src/web/alerts/alert-texts.ts";

/** What the server makes of an alert besides its members. */
const STORED = { id: "1", version: 3, created: 1, updated: 2 };

test("unchanged members are stored again as they were, including those that the form does not show", () => {
  const schedule = { timezone: "UTC", weekly: [{ days: ["mon"], from: "08:00", to: "18:00" }] };
  for (const members of [
    { speed_above: 36.1111, active: true },
    { speed_above: 100 / 7, name: "Fast", confirm_seconds: 30, confirmations: 2, active: false },
    { battery_below: 15.5, devices: ["van"], users: ["ada"], tags: ["a"], active: true },
    { silent_for: 120, metadata: { key: [1] }, description: "x", color: "#112233", schedule, active: true },
  ] as const) {
    const alert = { ...members, ...STORED } as Alert;
    for (const units of ["metric", "miles"] as const)
      expect<object>(bodyOf(draftOf(alert, units))).toEqual(members);
  }
});

test("a speed is typed in the user's units and stored in meters per second", () => {
  const draft = draftOf({ ...STORED, speed_above: 130 / 3.6 }, "metric");
  expect(draft.limit).toBe("130");
  expect(bodyOf({ ...draft, limit: "90" }).speed_above).toBe(25);
  expect(bodyOf({ ...newAlert("miles"), limit: "60" }).speed_above).toBe(26.8224);
});

test("another type takes the place of the one before", () => {
  const draft = draftOf({ ...STORED, speed_above: 10 }, "metric");
  expect(bodyOf({ ...draft, type: "battery_below", limit: "36" })).toEqual({
    battery_below: 36,
    active: true,
  });
});

test("an error of the server stands beside the member that it names", () => {
  expect(faultOf("battery_below must be a number, 0 to 100")).toEqual({
    member: "battery_below",
    text: "battery_below must be a number, 0 to 100.",
  });
  expect(faultOf("schedule.weekly[0].days must be a list of 1 to 7 items").member).toBe("schedule");
  expect(faultOf("the app has 1,000 alerts").member).toBeNull();
});

test("the texts name the limit in the user's units", () => {
  const alert = { ...STORED, speed_above: 25, confirm_seconds: 30, confirmations: 1, active: true };
  expect(alertName(alert, "metric")).toBe("Faster than 90 km/h");
  expect(alertRules(alert, "miles")).toEqual([
    "Faster than 56 mph",
    "Changes once positions over 30 s agree.",
  ]);
  expect(alertName({ ...STORED, silent_for: 120 }, "metric")).toBe("Silent for 2 h");
  expect(alertRules({ ...STORED, battery_below: 15, devices: ["a"], active: false }, "metric")).toEqual([
    ...["Battery below 15 %", "It makes no events: it is not active.", "Applies to 1 device."],
  ]);
});
