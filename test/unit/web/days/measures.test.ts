import { expect, test } from "bun:test";
import { barByKey, barText, DISTANCE } from "../../../../src/web/days/measures.ts";
import type { PeriodFacts } from "../../../../src/web/days/periods.ts";
import type { LocalDay } from "../../../../src/web/time/local-day.ts";

const DAY = "2026-11-21" as LocalDay;
const FACTS: PeriodFacts = {
  ...{ start: DAY, end: DAY, daysWithReports: 1, reports: 9, distanceMeters: 12_340, movingSeconds: 60 },
  ...{ stops: 0, speedMax: null },
};

test("barText() is the value with its period, and a period without reports has none", () => {
  expect(barText(DISTANCE, "day", FACTS, "metric")).toMatch(/21.*: 12\.3 km$/);
  expect(barText(DISTANCE, "year", { ...FACTS, daysWithReports: 0 }, "metric")).toBe("2026: no reports");
});

test("barByKey() begins at the last bar and stays within the bars", () => {
  expect([barByKey("ArrowLeft", null, 5), barByKey("ArrowRight", null, 5)]).toEqual([5, 5]);
  expect([barByKey("ArrowLeft", 0, 5), barByKey("ArrowRight", 5, 5)]).toEqual([0, 5]);
  expect([barByKey("ArrowDown", 3, 5), barByKey("ArrowUp", 3, 5)]).toEqual([2, 4]);
  expect([barByKey("Home", 3, 5), barByKey("End", 3, 5), barByKey("Tab", 3, 5)]).toEqual([0, 5, null]);
});
