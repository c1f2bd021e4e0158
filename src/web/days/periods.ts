import { LOCALE } from "../time/format.ts";
import { addDays, type LocalDay, MS_PER_HOUR, rangeOf, type TimeRange } from "../time/local-day.ts";
import {
  firstDayOf,
  lastDayOf,
  type Month,
  monthOf,
  monthsOf,
  sameDayOf,
  type Weekday,
  weekStart,
  yearOf,
} from "./calendar-grid.ts";
import type { DayFacts } from "./day-facts.ts";

/* Days grouped into weeks, months and years, and their sums. */

export type Grouping = "day" | "week" | "month" | "year";

/** Days from `start` to `end`, both included. */
export interface Period {
  readonly start: LocalDay;
  readonly end: LocalDay;
}

export interface PeriodFacts extends Period {
  readonly daysWithReports: number;
  readonly reports: number;
  readonly distanceMeters: number;
  readonly movingSeconds: number;
  readonly stops: number;
  /** Meters per second; null if no report had a speed. */
  readonly speedMax: number | null;
}

const YEARS = 10;
const DAYS_PER_WEEK = 7;

/**
 * The periods of one page: the days of a month, the weeks that begin in a year, the months of a year, or ten years up
 * to the anchor's. Periods that begin after today are omitted.
 */
export function periodsOf(
  grouping: Grouping,
  anchor: LocalDay,
  first: Weekday,
  today: LocalDay,
): readonly Period[] {
  return allPeriods(grouping, anchor, first).filter(({ start }) => start <= today);
}

function allPeriods(grouping: Grouping, anchor: LocalDay, first: Weekday): readonly Period[] {
  const year = yearOf(anchor);
  switch (grouping) {
    case "day":
      return daysFrom(firstDayOf(monthOf(anchor)), lastDayOf(monthOf(anchor))).map((day) => ({
        start: day,
        end: day,
      }));
    case "week":
      return weeksFrom(year, first);
    case "month":
      return monthsOf(year).map(monthPeriod);
    case "year":
      return Array.from({ length: YEARS }, (_, index) => yearPeriod(year - YEARS + 1 + index));
  }
}

function daysFrom(start: LocalDay, end: LocalDay): readonly LocalDay[] {
  const days: LocalDay[] = [];
  for (let day = start; day <= end; day = addDays(day, 1)) days.push(day);
  return days;
}

function weeksFrom(year: number, first: Weekday): readonly Period[] {
  const weeks: Period[] = [];
  const from = weekStart(addDays(`${year}-01-01` as LocalDay, DAYS_PER_WEEK - 1), first);
  for (let start = from; yearOf(start) === year; start = addDays(start, DAYS_PER_WEEK))
    weeks.push({ start, end: addDays(start, DAYS_PER_WEEK - 1) });
  return weeks;
}

function monthPeriod(month: Month): Period {
  return { start: firstDayOf(month), end: lastDayOf(month) };
}

function yearPeriod(year: number): Period {
  return { start: `${year}-01-01` as LocalDay, end: `${year}-12-31` as LocalDay };
}

/** More bars than this are too thin. */
const DAILY_BARS_MAX = 31;

/** The days from `start` to `end`; if they are many, their weeks, of which the first and the last may be cut. */
export function spanPeriods(start: LocalDay, end: LocalDay, first: Weekday): readonly Period[] {
  const days = daysFrom(start, end);
  if (days.length <= DAILY_BARS_MAX) return days.map((day) => ({ start: day, end: day }));
  const weeks: Period[] = [];
  for (let from = start; from <= end; ) {
    const last = addDays(weekStart(from, first), DAYS_PER_WEEK - 1);
    weeks.push({ start: from, end: last < end ? last : end });
    from = addDays(last, 1);
  }
  return weeks;
}

/** The years that the periods have days of: a week at a year's end has two. */
export function yearsOf(periods: readonly Period[]): readonly number[] {
  return [...new Set(periods.flatMap(({ start, end }) => [yearOf(start), yearOf(end)]))];
}

/** The anchor of the page before or after. */
export function moveAnchor(grouping: Grouping, anchor: LocalDay, pages: number): LocalDay {
  if (grouping === "day") return sameDayOf(anchor, pages);
  return sameDayOf(anchor, pages * 12 * (grouping === "year" ? YEARS : 1));
}

/** One sum for each period. `days` are in the order of time, without days that have no reports. */
export function sumByPeriod(periods: readonly Period[], days: readonly DayFacts[]): readonly PeriodFacts[] {
  return periods.map((period) =>
    sumOf(
      period,
      days.filter(({ day }) => day >= period.start && day <= period.end),
    ),
  );
}

/** What a table lists: the newest period first, without those that have no reports. */
export function listedSums(sums: readonly PeriodFacts[]): readonly PeriodFacts[] {
  return sums.filter(({ daysWithReports }) => daysWithReports > 0).reverse();
}

/** The sum of all days of the periods. */
export function sumOfAll(periods: readonly Period[], days: readonly DayFacts[]): PeriodFacts | null {
  const [first] = periods;
  if (first === undefined) return null;
  return sumByPeriod([{ start: first.start, end: periods.at(-1)!.end }], days)[0]!;
}

function sumOf({ start, end }: Period, days: readonly DayFacts[]): PeriodFacts {
  const add = (amount: (facts: DayFacts) => number) => days.reduce((sum, facts) => sum + amount(facts), 0);
  const speeds = days.flatMap(({ speedMax }) => speedMax ?? []);
  return {
    start,
    end,
    daysWithReports: days.length,
    reports: add(({ reports }) => reports),
    distanceMeters: add(({ distanceMeters }) => distanceMeters),
    movingSeconds: add(({ movingSeconds }) => movingSeconds),
    stops: add(({ stops }) => stops),
    speedMax: speeds.length === 0 ? null : Math.max(...speeds),
  };
}

/** The longest range that the server lists stops of. */
const STOPS_MS_MAX = 31 * 24 * MS_PER_HOUR;

/** The ranges to ask for a month's stops: two if clocks go back, since such a month may be an hour too long. */
export function stopRanges(month: Month, zone: string): readonly TimeRange[] {
  const { startMs } = rangeOf(firstDayOf(month), zone);
  const { endMs } = rangeOf(lastDayOf(month), zone);
  if (endMs - startMs <= STOPS_MS_MAX) return [{ startMs, endMs }];
  const middleMs = rangeOf(`${month}-15` as LocalDay, zone).startMs;
  return [
    { startMs, endMs: middleMs },
    { startMs: middleMs, endMs },
  ];
}

const monthFormat = new Intl.DateTimeFormat(LOCALE, { month: "long", year: "numeric", timeZone: "UTC" });
const shortMonth = new Intl.DateTimeFormat(LOCALE, { month: "short", timeZone: "UTC" });
const dayAndMonth = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", timeZone: "UTC" });

/** `November 2026`. */
export function monthText(month: Month): string {
  return monthFormat.format(Date.parse(firstDayOf(month)));
}

/** The title of a page: `November 2026`, `2026`, `2017 to 2026`. */
export function pageTitle(grouping: Grouping, anchor: LocalDay): string {
  const year = yearOf(anchor);
  if (grouping === "day") return monthText(monthOf(anchor));
  return grouping === "year" ? `${year - YEARS + 1} to ${year}` : String(year);
}

/** A period's name in the table: `21 Nov`, `16 Nov to 22 Nov`, `November 2026`, `2026`. */
export function periodText(grouping: Grouping, { start, end }: Period): string {
  const short = (day: LocalDay) => dayAndMonth.format(Date.parse(day));
  switch (grouping) {
    case "day":
      return short(start);
    case "week":
      return `${short(start)} to ${short(end)}`;
    case "month":
      return monthText(monthOf(start));
    case "year":
      return String(yearOf(start));
  }
}

/** A label below a bar: `21`, `16 Nov`, `Nov`, `2026`. */
export function barLabel(grouping: Grouping, { start }: Period): string {
  switch (grouping) {
    case "day":
      return String(Number(start.slice(8)));
    case "week":
      return dayAndMonth.format(Date.parse(start));
    case "month":
      return shortMonth.format(Date.parse(start));
    case "year":
      return String(yearOf(start));
  }
}
