import { expect, test } from "bun:test";
import {
  ASSIGN,
  changeMembers,
  HIDE,
  parseDuration,
  SHIFT,
  shiftedRange,
} from "../../../../src/web/corrections/change.ts";
import { selectionOf } from "../../../../src/web/corrections/selection.ts";

test("parseDuration() reads hours, minutes and seconds, and nothing that is no duration", () => {
  const texts = [
    "1:00",
    "0:05",
    " 12:30 ",
    "0:00:45",
    "100:5",
    "0:00",
    "1:60",
    "1",
    "-1:00",
    "1.5",
    "",
    "1:00:99",
  ];
  expect(texts.map((text) => parseDuration(text))).toEqual([
    ...[3_600_000, 300_000, 45_000_000, 45_000, 360_300_000],
    ...[null, null, null, null, null, null, null],
  ]);
});

test("changeMembers() has what the server takes once the user has said enough", () => {
  expect(changeMembers(HIDE)).toEqual({ action: "hide" });
  expect(changeMembers(SHIFT)).toEqual({ action: "shift_time", by_ms: 3_600_000 });
  expect(changeMembers({ action: "shift_time", text: "0:30", isLater: false })).toEqual({
    ...{ action: "shift_time", by_ms: -1_800_000 },
  });
  expect(changeMembers({ action: "shift_time", text: "soon", isLater: true })).toBeNull();
  expect(changeMembers(ASSIGN)).toBeNull();
  expect(changeMembers({ action: "assign", search: "Tram", toDeviceId: "tram" })).toEqual({
    ...{ action: "assign", to_device_id: "tram" },
  });
});

test("shiftedRange() moves both ends", () => {
  expect(shiftedRange(selectionOf([10_000, 20_000]), -5000)).toEqual({ startMs: 5000, endMs: 15_000 });
});
