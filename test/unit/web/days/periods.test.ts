import { describe, expect, test } from "bun:test";
import type { Month } from "../../../../src/web/days/calendar-grid.ts";
import type { DayFacts } from "../../../../src/web/days/day-facts.ts";
import { csvText } from "../../../../src/web/days/measures.ts";
import {
  type Grouping,
  listedSums,
  moveAnchor,
  pageTitle,
  periodsOf,
  periodText,
  spanPeriods,
  stopRanges,
  sumByPeriod,
  sumOfAll,
  yearsOf,
} from "../../../../src/web/days/periods.ts";
import type { LocalDay } from "../../../../src/web/time/local-day.ts";

const SUNDAY = 0;
const MONDAY = 1;
const TODAY = "2027-06-15" as LocalDay;

const day = (text: string) => text as LocalDay;

function facts(text: string, meters: number, speedMax: number | null = null): DayFacts {
  return { day: day(text), reports: 10, distanceMeters: meters, movingSeconds: 60, stops: 2, speedMax };
}

/** The first and the last period of a page, and their number. */
function page(grouping: Grouping, anchor: string, first = MONDAY) {
  const periods = periodsOf(grouping, day(anchor), first, TODAY);
  return [periods.length, periods[0]?.start, periods.at(-1)?.end];
}

describe("a page", () => {
  test("has the days of a month, the months of a year, or ten years", () => {
    expect(page("day", "2026-02-10")).toEqual([28, day("2026-02-01"), day("2026-02-28")]);
    expect(page("month", "2026-02-10")).toEqual([12, day("2026-01-01"), day("2026-12-31")]);
    expect(page("year", "2026-02-10")).toEqual([10, day("2017-01-01"), day("2026-12-31")]);
  });

  test("has the weeks that begin in the year, each whole, by the first day of the week", () => {
    expect(page("week", "2026-05-05")).toEqual([52, day("2026-01-05"), day("2027-01-03")]);
    expect(page("week", "2026-05-05", SUNDAY)).toEqual([52, day("2026-01-04"), day("2027-01-02")]);
    expect(page("week", "2024-05-05")).toEqual([53, day("2024-01-01"), day("2025-01-05")]);
    expect(yearsOf(periodsOf("week", day("2026-05-05"), MONDAY, TODAY))).toEqual([2026, 2027]);
  });

  test("ends with the period that contains today", () => {
    expect(page("day", "2027-06-01")).toEqual([15, day("2027-06-01"), TODAY]);
    expect(page("month", "2027-01-01")).toEqual([6, day("2027-01-01"), day("2027-06-30")]);
    expect(page("week", "2027-01-01")[2]).toBe(day("2027-06-20"));
    expect(page("day", "2027-07-01")[0]).toBe(0);
  });

  test("moves by months, years and decades", () => {
    const from = day("2026-03-31");
    expect(moveAnchor("day", from, -1)).toBe(day("2026-02-28"));
    expect(moveAnchor("week", from, 1)).toBe(day("2027-03-31"));
    expect(moveAnchor("year", from, -1)).toBe(day("2016-03-31"));
    expect([pageTitle("day", from), pageTitle("week", from), pageTitle("year", from)]).toEqual([
      "March 2026",
      "2026",
      "2017 to 2026",
    ]);
    expect(periodText("month", { start: day("2026-03-01"), end: day("2026-03-31") })).toBe("March 2026");
  });
});

test("a span has a bar for each day; a long one for each week, cut at its ends", () => {
  expect(spanPeriods(day("2026-03-01"), day("2026-03-31"), MONDAY)).toHaveLength(31);
  const weeks = spanPeriods(day("2026-03-01"), day("2026-04-01"), MONDAY);
  expect(weeks[0]).toEqual({ start: day("2026-03-01"), end: day("2026-03-01") });
  expect(weeks.at(-1)).toEqual({ start: day("2026-03-30"), end: day("2026-04-01") });
  expect(weeks).toHaveLength(6);
});

describe("sums", () => {
  test("add up the days of each period, and keep the greatest speed", () => {
    const days = [facts("2026-01-31", 1, 9), facts("2026-02-01", 20), facts("2026-02-28", 300, 4)];
    const [january, february, march] = sumByPeriod(
      periodsOf("month", day("2026-01-01"), MONDAY, TODAY),
      days,
    );
    expect(january).toMatchObject({ daysWithReports: 1, distanceMeters: 1, speedMax: 9 });
    expect(february).toMatchObject({ daysWithReports: 2, reports: 20, distanceMeters: 320, stops: 4 });
    expect(february).toMatchObject({ movingSeconds: 120, speedMax: 4 });
    expect(march).toMatchObject({ daysWithReports: 0, reports: 0, distanceMeters: 0, speedMax: null });
  });

  test("of a week at a year's end have the days of both years", () => {
    const days = [facts("2026-12-31", 1), facts("2027-01-01", 2), facts("2027-01-04", 4)];
    const weeks = sumByPeriod(periodsOf("week", day("2026-12-31"), MONDAY, TODAY), days);
    expect(weeks.at(-1)).toMatchObject({
      start: day("2026-12-28"),
      end: day("2027-01-03"),
      distanceMeters: 3,
    });
    expect(sumOfAll(periodsOf("week", day("2027-01-01"), MONDAY, TODAY), days)).toMatchObject({
      distanceMeters: 4,
    });
  });

  test("of a week have seven days when clocks change", () => {
    const march = ["2026-03-23", "2026-03-28", "2026-03-29", "2026-03-30"].map((text) => facts(text, 1));
    const october = ["2026-10-19", "2026-10-24", "2026-10-25", "2026-10-26"].map((text) => facts(text, 1));
    const weeks = sumByPeriod(periodsOf("week", day("2026-01-05"), MONDAY, TODAY), [...march, ...october]);
    const driven = weeks.filter(({ daysWithReports }) => daysWithReports > 0);
    expect(driven.map(({ start, daysWithReports }) => [start, daysWithReports])).toEqual([
      [day("2026-03-23"), 3],
      [day("2026-03-30"), 1],
      [day("2026-10-19"), 3],
      [day("2026-10-26"), 1],
    ]);
  });

  test("are listed from the newest, without empty periods, and stay in the order of time", () => {
    const days = [facts("2026-02-03", 1), facts("2026-02-27", 2)];
    const sums = sumByPeriod(periodsOf("day", day("2026-02-10"), MONDAY, TODAY), days);
    expect(listedSums(sums).map(({ start }) => start)).toEqual([day("2026-02-27"), day("2026-02-03")]);
    expect([sums.length, sums[0]!.start]).toEqual([28, day("2026-02-01")]);
  });

  test("of a page without periods are unknown", () => {
    expect(sumOfAll([], [])).toBeNull();
  });
});

test("a month's stops are asked for at once, unless an hour more makes it too long", () => {
  const hours = (month: string, zone: string) =>
    stopRanges(month as Month, zone).map(({ startMs, endMs }) => (endMs - startMs) / 3_600_000);
  expect(hours("2026-01", "Europe/Berlin")).toEqual([744]);
  expect(hours("2026-03", "Europe/Berlin")).toEqual([743]);
  expect(hours("2026-10", "Europe/Berlin")).toEqual([336, 409]);
});

test("a CSV file has units in its header, CRLF, and nothing where nothing is known", () => {
  const periods = [
    { start: day("2026-11-01"), end: day("2026-11-30") },
    { start: day("2026-12-01"), end: day("2026-12-31") },
  ];
  const sums = sumByPeriod(periods, [{ ...facts("2026-11-05", 1609.344, 10), movingSeconds: 5400 }]);
  expect(csvText(sums, "miles")).toBe(
    [
      "First day,Last day,Distance (mi),Moving time (h),Stops,Top speed (mph),Days with reports,Reports\r\n",
      "2026-11-01,2026-11-30,1,1.5,2,22.4,1,10\r\n",
      "2026-12-01,2026-12-31,,,,,0,0\r\n",
    ].join(""),
  );
  expect(csvText(sums, "metric")).toContain("Distance (km)");
});
