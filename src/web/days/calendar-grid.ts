import { LOCALE } from "../time/format.ts";
import { addDays, type LocalDay, parseDay } from "../time/local-day.ts";

/* The grid of a calendar: weeks of a month, keys that move through days, and how dark a day is shaded. */

/** A month as `YYYY-MM`. */
export type Month = string & { readonly brand: "Month" };

/** 0 is Sunday, 1 is Monday. */
export type Weekday = number;

const MONDAY: Weekday = 1;
const DAYS_PER_WEEK = 7;
const MONTHS_PER_YEAR = 12;

interface WeekInfo {
  /** 1 is Monday, 7 is Sunday. */
  readonly firstDay: number;
}

/** Browsers have the method or, older ones, the property. */
interface LocaleWeeks {
  getWeekInfo?(): WeekInfo;
  readonly weekInfo?: WeekInfo;
}

/** The first day of the week in the locale's region; Monday if the browser does not know it. */
export function firstWeekday(locale: Intl.Locale = LOCALE): Weekday {
  const weeks = locale as LocaleWeeks;
  const info = weeks.getWeekInfo?.() ?? weeks.weekInfo;
  return info === undefined ? MONDAY : info.firstDay % DAYS_PER_WEEK;
}

export function weekdayOf(day: LocalDay): Weekday {
  return new Date(Date.parse(day)).getUTCDay();
}

/** The first day of the week that contains `day`. */
export function weekStart(day: LocalDay, first: Weekday): LocalDay {
  return addDays(day, -((weekdayOf(day) - first + DAYS_PER_WEEK) % DAYS_PER_WEEK));
}

export function monthOf(day: LocalDay): Month {
  return day.slice(0, 7) as Month;
}

export function yearOf(day: LocalDay): number {
  return Number(day.slice(0, 4));
}

export function monthsOf(year: number): readonly Month[] {
  return Array.from(
    { length: MONTHS_PER_YEAR },
    (_, index) => `${year}-${String(index + 1).padStart(2, "0")}` as Month,
  );
}

export function firstDayOf(month: Month): LocalDay {
  return `${month}-01` as LocalDay;
}

export function lastDayOf(month: Month): LocalDay {
  return addDays(firstDayOf(addMonths(month, 1)), -1);
}

export function addMonths(month: Month, months: number): Month {
  const [year, number] = month.split("-").map(Number) as [number, number];
  const count = year * MONTHS_PER_YEAR + number - 1 + months;
  const next = (count % MONTHS_PER_YEAR) + 1;
  return `${Math.floor(count / MONTHS_PER_YEAR)}-${String(next).padStart(2, "0")}` as Month;
}

/** The month's weeks. Days of other months are null, so that all columns are weekdays. */
export function weeksOf(month: Month, first: Weekday): readonly (readonly (LocalDay | null)[])[] {
  const weeks: (LocalDay | null)[][] = [];
  const last = lastDayOf(month);
  for (
    let start = weekStart(firstDayOf(month), first);
    start <= last;
    start = addDays(start, DAYS_PER_WEEK)
  ) {
    const days = Array.from({ length: DAYS_PER_WEEK }, (_, index) => addDays(start, index));
    weeks.push(days.map((day) => (monthOf(day) === month ? day : null)));
  }
  return weeks;
}

/** The names of the columns: `Mon`, `Tue` … */
export function weekdayNames(first: Weekday, style: "short" | "long"): readonly string[] {
  const sunday = Date.UTC(2023, 0, 1);
  const format = new Intl.DateTimeFormat(LOCALE, { weekday: style, timeZone: "UTC" });
  return Array.from({ length: DAYS_PER_WEEK }, (_, index) =>
    format.format(sunday + ((first + index) % DAYS_PER_WEEK) * 86_400_000),
  );
}

export interface GridKey {
  readonly key: string;
  readonly shiftKey: boolean;
}

/** The day that a key leads to from `day`: the keys of date grids by the ARIA patterns. Null for other keys. */
export function dayByKey(day: LocalDay, { key, shiftKey }: GridKey, first: Weekday): LocalDay | null {
  switch (key) {
    case "ArrowLeft":
      return addDays(day, -1);
    case "ArrowRight":
      return addDays(day, 1);
    case "ArrowUp":
      return addDays(day, -DAYS_PER_WEEK);
    case "ArrowDown":
      return addDays(day, DAYS_PER_WEEK);
    case "Home":
      return weekStart(day, first);
    case "End":
      return addDays(weekStart(day, first), DAYS_PER_WEEK - 1);
    case "PageUp":
      return sameDayOf(day, shiftKey ? -MONTHS_PER_YEAR : -1);
    case "PageDown":
      return sameDayOf(day, shiftKey ? MONTHS_PER_YEAR : 1);
    default:
      return null;
  }
}

/** Moves by months and keeps the day of the month, or takes the last day of a shorter month. */
export function sameDayOf(day: LocalDay, months: number): LocalDay {
  const month = addMonths(monthOf(day), months);
  return parseDay(`${month}${day.slice(7)}`) ?? lastDayOf(month);
}

/** The darkest shade; 0 is a day without reports. */
export const SHADES = 4;

/**
 * How dark a day is: by its rank among all days, in quarters, or one long journey would make all others equal. `sorted`
 * has the values of all days with reports. A day with a value of 0 has the first shade.
 */
export function shadeOf(value: number, sorted: readonly number[]): number {
  if (value <= 0) return 1;
  const rank = sorted.findLastIndex((other) => other <= value) + 1;
  return Math.max(1, Math.ceil((SHADES * rank) / sorted.length));
}
