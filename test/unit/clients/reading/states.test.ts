import { describe, expect, test } from "bun:test";
import { readBatteryStatus, readMovement, readOs } from "../../../../src/clients/reading/states.ts";

describe("readMovement()", () => {
  test.each([
    [["driving", "stationary"], "MOVING"],
    [["stationary", "driving"], "MOVING"],
    [["stationary"], "STATIONARY"],
    [["unknown", "still"], "STATIONARY"],
    [[], null],
    [["unknown"], null],
    ["in_vehicle", "MOVING"],
    ["still", "STATIONARY"],
    [{ type: "walking" }, null],
    [undefined, null],
  ])("of %p is %p", (activities, movement) => {
    expect(readMovement(activities)).toBe(movement as ReturnType<typeof readMovement>);
  });
});

describe("readBatteryStatus()", () => {
  test.each([
    [1, "Not Charging"],
    ["unplugged", "Not Charging"],
    [false, "Not Charging"],
    ["2", "Charging"],
    ["Charging", "Charging"],
    ["true", "Charging"],
    [3, "Full"],
    ["full", "Full"],
    [0, null],
    ["unknown", null],
    [null, null],
  ])("of %p is %p", (value, status) => {
    expect(readBatteryStatus(value)).toBe(status as ReturnType<typeof readBatteryStatus>);
  });
});

describe("readOs()", () => {
  test.each([
    ["Owntracks-Android/gms/420505000", "android"],
    ["Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8)", "android"],
    ["okhttp/4.12.0", "android"],
    ["Overland/1 CFNetwork/1490.0.4 Darwin/23.2.0", "ios"],
    ["python-requests/2.31", null],
    [undefined, null],
  ])("of %p is %p", (userAgent, os) => {
    expect(readOs(userAgent)).toBe(os as ReturnType<typeof readOs>);
  });
});
