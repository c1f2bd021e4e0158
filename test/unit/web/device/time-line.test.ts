import { expect, test } from "bun:test";
import { timeLineParts } from "../../../../src/web/device/time-line.ts";

const RANGE = { startMs: 1000, endMs: 2000 };

test("stops and gaps lie where their times are", () => {
  const parts = timeLineParts(RANGE, [{ start: 1100, end: 1300 }], [{ startMs: 1500, endMs: 1750 }]);
  expect(parts).toEqual([
    { kind: "stop", x: 100, width: 200 },
    { kind: "gap", x: 500, width: 250 },
  ]);
});

test("what reaches out of the range is cut, and a short part can be seen", () => {
  const stops = [
    { start: 0, end: 1100 },
    { start: 1500, end: 1500.1 },
    { start: 3000, end: 4000 },
  ];
  expect(timeLineParts(RANGE, stops, []).map(({ x, width }) => [x, width])).toEqual([
    [0, 100],
    [500, 2],
  ]);
});
