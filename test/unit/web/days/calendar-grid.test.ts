import { expect, test } from "bun:test";
import {
  addMonths,
  dayByKey,
  firstWeekday,
  lastDayOf,
  type Month,
  shadeOf,
  weekdayNames,
  weekStart,
  weeksOf,
} from "../../../../src/web/days/calendar-grid.ts";
import type { LocalDay } from "../../../../src/web/time/local-day.ts";

const SUNDAY = 0;
const MONDAY = 1;
const SATURDAY = 6;

const day = (text: string) => text as LocalDay;
const month = (text: string) => text as Month;

test("the first day of the week is that of the locale's region", () => {
  const firstOf = (tag: string) => firstWeekday(new Intl.Locale(tag));
  expect(["en-US", "en-GB", "en-EG"].map(firstOf)).toEqual([SUNDAY, MONDAY, SATURDAY]);
});

test("a week begins on its first day, also over a year's end", () => {
  expect([SUNDAY, MONDAY, SATURDAY].map((first) => weekStart(day("2027-01-01"), first))).toEqual(
    ["2026-12-27", "2026-12-28", "2026-12-26"].map(day),
  );
  expect(weekStart(day("2026-12-28"), MONDAY)).toBe(day("2026-12-28"));
});

test("a month's weeks have seven columns, and all of its days once", () => {
  const weeks = weeksOf(month("2026-03"), MONDAY);
  expect(weeks.map((week) => week.length)).toEqual([7, 7, 7, 7, 7, 7]);
  expect(weeks[0]).toEqual([null, null, null, null, null, null, day("2026-03-01")]);
  expect(weeks.flat().filter((one) => one !== null)).toHaveLength(31);
  expect(weeksOf(month("2026-02"), SUNDAY).map((week) => week.length)).toEqual([7, 7, 7, 7]);
});

test("months go on over a year's end, and February has a day more in a leap year", () => {
  expect([addMonths(month("2026-12"), 1), addMonths(month("2026-01"), -1)]).toEqual(
    ["2027-01", "2025-12"].map(month),
  );
  expect([lastDayOf(month("2026-02")), lastDayOf(month("2028-02"))]).toEqual(
    ["2026-02-28", "2028-02-29"].map(day),
  );
});

test("keys move through days, weeks, months and years", () => {
  const from = (key: string, shiftKey = false) => dayByKey(day("2026-03-31"), { key, shiftKey }, MONDAY);
  expect({
    left: from("ArrowLeft"),
    right: from("ArrowRight"),
    up: from("ArrowUp"),
    down: from("ArrowDown"),
    home: from("Home"),
    end: from("End"),
    monthBefore: from("PageUp"),
    monthAfter: from("PageDown"),
    yearBefore: from("PageUp", true),
    yearAfter: from("PageDown", true),
    other: from("Enter"),
  }).toEqual({
    left: day("2026-03-30"),
    right: day("2026-04-01"),
    up: day("2026-03-24"),
    down: day("2026-04-07"),
    home: day("2026-03-30"),
    end: day("2026-04-05"),
    monthBefore: day("2026-02-28"),
    monthAfter: day("2026-04-30"),
    yearBefore: day("2025-03-31"),
    yearAfter: day("2027-03-31"),
    other: null,
  });
});

test("the columns have the names of their weekdays", () => {
  expect(weekdayNames(SATURDAY, "short")).toEqual(["Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri"]);
});

test("each day with reports is shaded by its rank, and one great day leaves the others as they are", () => {
  const shadesOf = (...sorted: number[]) => sorted.map((value) => shadeOf(value, sorted));
  expect(shadesOf(0, 0, 3, 4, 5, 6, 7, 1000)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
  expect(shadesOf(10, 20, 30, 40)).toEqual([1, 2, 3, 4]);
  expect(shadesOf(5, 5)).toEqual([4, 4]);
  expect(shadesOf(0)).toEqual([1]);
});
