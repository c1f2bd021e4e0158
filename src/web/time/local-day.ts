import { wallMs } from "./wall-clock.ts";

/*
 * Days of the calendar in a zone: 24 hours long mostly, 23 or 25 where clocks change, and none where a zone left one
 * out. Each instant is in one day: where clocks go back over midnight, the repeated minutes stay in the new day. The
 * server has the same rule.
 */

/** A day as `YYYY-MM-DD`, of years 1000 to 2999: text order is time order. */
export type LocalDay = string & { readonly brand: "LocalDay" };

/** From `startMs` to before `endMs`. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

export const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 24 * MS_PER_HOUR;

/** A day that exists; null for anything else. */
export function parseDay(text: string): LocalDay | null {
  if (!/^[12]\d{3}-\d\d-\d\d$/.test(text)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || dayOfUtc(ms) !== text ? null : (text as LocalDay);
}

/** The day that an instant is in. */
export function dayAt(ms: number, zone: string): LocalDay {
  const shown = dayOfUtc(wallMs(ms, zone));
  const next = addDays(shown, 1);
  return startOf(next, zone) <= ms ? next : shown;
}

/** So many days later, or earlier. */
export function addDays(day: LocalDay, days: number): LocalDay {
  return dayOfUtc(Date.parse(day) + days * MS_PER_DAY);
}

/** From the first instant of a day, or of so many days that it is the last of. */
export function rangeOf(day: LocalDay, zone: string, days = 1): TimeRange {
  return { startMs: startOf(addDays(day, 1 - days), zone), endMs: startOf(addDays(day, 1), zone) };
}

/** The hours that clocks show in a day, as ranges; the first and the last may be cut. */
export function hoursOf(day: LocalDay, zone: string): readonly TimeRange[] {
  const { startMs, endMs } = rangeOf(day, zone);
  const hours: TimeRange[] = [];
  for (let from = startMs; from < endMs; ) {
    const to = Math.min(endMs, from + MS_PER_HOUR - (wallMs(from, zone) % MS_PER_HOUR));
    hours.push({ startMs: from, endMs: to });
    from = to;
  }
  return hours;
}

/** The first instant at which clocks in the zone show the day's midnight, or later. */
function startOf(day: LocalDay, zone: string): number {
  const midnight = Date.parse(day);
  const around = [midnight - MS_PER_DAY, midnight, midnight + MS_PER_DAY];
  const candidates = around.map((ms) => midnight - (wallMs(ms, zone) - ms));
  const hits = candidates.filter((ms) => wallMs(ms, zone) === midnight);
  if (hits.length > 0) return Math.min(...hits);
  // Clocks went forward over midnight. When they did is between what the times before and after would make of it.
  let before = Math.min(...candidates) - 1;
  let after = Math.max(...candidates);
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (wallMs(middle, zone) < midnight) before = middle;
    else after = middle;
  }
  return after;
}

function dayOfUtc(ms: number): LocalDay {
  return new Date(ms).toISOString().slice(0, 10) as LocalDay;
}
