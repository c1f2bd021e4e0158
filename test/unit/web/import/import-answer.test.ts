import { expect, test } from "bun:test";
import {
  areaText,
  boundsOfLines,
  conflictText,
  devicesText,
  type ImportAnswer,
  leftOutTexts,
  positionsText,
  resultTexts,
  tooOldCount,
} from "../../../../src/web/import/import-answer.ts";

const ANSWER: ImportAnswer = {
  dry_run: true,
  format: "gpx",
  recognized_by: "its outermost element is <gpx>",
  usable: 1200,
  skipped: 0,
  already_there: 0,
  skips: [],
  remarks: [],
  left_out: [],
  devices: ["bike"],
  has_more_devices: false,
};

test("positionsText() names all positions if some are left out", () => {
  expect(positionsText(ANSWER)).toBe("1,200");
  expect(positionsText({ ...ANSWER, skipped: 34 })).toBe("1,200 of 1,234");
});

test("leftOutTexts() says why and where, and that there are more places than it names", () => {
  const skips = [
    { reason: "no_time", message: "without time", count: 2, places: ["line 3", "line 9"] },
    { reason: "too_old", message: "before the retention", count: 40, places: ["line 1", "line 2", "line 4"] },
    { reason: "waypoint", message: "waypoints", count: 5, places: [] },
  ];
  const answer = { ...ANSWER, skips, left_out: [{ field: "battery_level", count: 1 }] };
  expect(leftOutTexts(answer)).toEqual([
    "2 without time (line 3, line 9)",
    "40 before the retention (line 1, line 2, line 4, …)",
    "5 waypoints",
    "battery level of 1 position, which is out of bounds or unreadable",
  ]);
  expect([tooOldCount(answer), tooOldCount(ANSWER)]).toEqual([40, 0]);
});

test("conflictText() tells some, all and unknown", () => {
  const texts = [0, 300, 1200].map((already_there) => conflictText({ ...ANSWER, already_there }));
  expect(texts).toEqual([
    null,
    "300 have a time that is there already, or twice in the file.",
    "All of them are there already.",
  ]);
  expect(conflictText({ ...ANSWER, usable: 1, already_there: 1 })).toBe("It is there already.");
  const { already_there: _, ...unknown } = ANSWER;
  expect(conflictText(unknown)).toMatch(/unknown/);
});

test("resultTexts() names what is new, and the rest only if there is some", () => {
  expect(resultTexts({ ...ANSWER, new: 1200 })).toEqual(["1,200 new positions of bike."]);
  expect(resultTexts({ ...ANSWER, new: 1, already_there: 1, same_time: 2, skipped: 3 })).toEqual([
    "1 new position of bike.",
    "1 was there already.",
    "2 had the time of an existing record: the better position was kept.",
    "3 were left out.",
  ]);
});

test("devicesText() names a few devices and counts the others", () => {
  const text = (devices: readonly string[], has_more_devices = false) =>
    devicesText({ devices, has_more_devices });
  expect([text([]), text(["a", "b", "c"]), text(["a", "b", "c", "d"]), text(["a", "b", "c"], true)]).toEqual([
    ...["no device", "a, b, c", "a, b and 2 more", "a, b and more than 1 more"],
  ]);
});

test("boundsOfLines() crosses ±180° where the line does", () => {
  expect(boundsOfLines(ANSWER)).toBeNull();
  const lines: ImportAnswer["lines"] = [
    [
      [179.9, -16],
      [-179.9, -16.1],
    ],
  ];
  const bounds = boundsOfLines({ ...ANSWER, lines })!;
  expect([bounds.west, bounds.east]).toEqual([179.9, 180.1]);
  expect(areaText(bounds, "metric")).toBe("21.4 km by 11.1 km");
});
