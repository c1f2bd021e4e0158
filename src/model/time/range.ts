import { MS_PER_DAY, MS_PER_MINUTE } from "./units.ts";
import { OFFSET_MINUTES_MAX, type Zone } from "./zone.ts";

/** Instants from `startMs` to before `endMs`. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

export type Order = "asc" | "desc";

/** A day of the calendar as `YYYY-MM-DD`, years 0001 to 9999: text order is time order. */
export type LocalDate = string & { readonly brand: "LocalDate" };

/** A date that exists, written exactly as `YYYY-MM-DD`; null for anything else. */
export function parseDate(text: string): LocalDate | null {
  if (!/^(?!0000)\d{4}-\d\d-\d\d$/.test(text)) return null;
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))];
  // Day 0 of the next month is this month's last. Dates repeat every 400 years; `Date.UTC` reads 0 to 99 as 19xx.
  const days = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= days ? (text as LocalDate) : null;
}

/** The date that clocks in the zone show. */
export function today(zone: Zone, nowMs: number): LocalDate {
  const localMs = nowMs + zone.offsetMinutesAt(nowMs) * MS_PER_MINUTE;
  return new Date(localMs).toISOString().slice(0, 10) as LocalDate;
}

/** Days from `start` to `end`, both included: 1 if they are equal, 0 or less if they are in the wrong order. */
export function dayCount(start: LocalDate, end: LocalDate): number {
  return (utcMidnightMs(end) - utcMidnightMs(start)) / MS_PER_DAY + 1;
}

/**
 * From the first instant of `start` to the first instant after `end`, in the zone. A day has 23 or 25 hours when clocks
 * change, and none if the zone skipped it (2011-12-30 in Apia). Each instant belongs to one day: when clocks go back
 * over midnight, the repeated minutes belong to the new day.
 */
export function dayRange(start: LocalDate, end: LocalDate, zone: Zone): TimeRange {
  return {
    startMs: firstInstantMs(utcMidnightMs(start), zone),
    endMs: firstInstantMs(utcMidnightMs(end) + MS_PER_DAY, zone),
  };
}

/**
 * The first instant at which local clocks show `localMs` or later. Luxon can't tell: for a midnight that occurs twice
 * it chooses by the season of its own `now`, and if clocks jump from 23:30 to 00:30 it starts the day at 01:00.
 */
export function firstInstantMs(localMs: number, zone: Zone): number {
  // Before this span clocks showed an earlier time in every zone, so a forward walk finds the first instant.
  let span = zone.offsetSpanAt(localMs - OFFSET_MINUTES_MAX * MS_PER_MINUTE);
  for (;;) {
    const shownMs = Math.max(span.startMs, localMs - Math.round(span.offsetMinutes * MS_PER_MINUTE));
    if (shownMs < span.endMs) return shownMs;
    span = zone.offsetSpanAt(span.endMs);
  }
}

/** Each day from `start` to `end`, both included. A day that the zone skipped is empty. */
export function localDays(
  start: LocalDate,
  end: LocalDate,
  zone: Zone,
): { date: LocalDate; range: TimeRange }[] {
  return Array.from({ length: Math.max(0, dayCount(start, end)) }, (_, index) => {
    const date = new Date(utcMidnightMs(start) + index * MS_PER_DAY).toISOString().slice(0, 10) as LocalDate;
    return { date, range: dayRange(date, date, zone) };
  });
}

/** A date's midnight as if the zone were UTC. */
export function utcMidnightMs(date: LocalDate): number {
  return Date.parse(date);
}
