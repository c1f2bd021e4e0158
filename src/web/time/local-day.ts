/*
 * Days of the calendar in a zone. Most are 24 hours long, those on which clocks change 23 or 25, and some zones left a
 * day out. Each instant is in one day: if clocks go back over midnight, the repeated minutes stay in the new day. The
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

/** A number of days later, or earlier. */
export function addDays(day: LocalDay, days: number): LocalDay {
  return dayOfUtc(Date.parse(day) + days * MS_PER_DAY);
}

/** The range of a day, or of several days that end with it. */
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

/** Knows which day it is. The page asks in every frame, and `Intl` takes a tenth of a millisecond to answer. */
export class Calendar {
  #zone = "";
  #day: LocalDay | null = null;
  #range: TimeRange = { startMs: 0, endMs: 0 };

  today(zone: string, nowMs: number): LocalDay {
    const isSame = zone === this.#zone && nowMs >= this.#range.startMs && nowMs < this.#range.endMs;
    if (this.#day !== null && isSame) return this.#day;
    this.#zone = zone;
    this.#day = dayAt(nowMs, zone);
    this.#range = rangeOf(this.#day, zone);
    return this.#day;
  }
}

export type SpanName = "day" | "week" | "month" | "year";

/** How much is looked at: a day, or several that end with it. */
export interface Span {
  readonly name: SpanName;
  readonly label: string;
  readonly days: number;
}

export const SPANS: readonly [Span, ...Span[]] = [
  { name: "day", label: "1 day", days: 1 },
  { name: "week", label: "7 days", days: 7 },
  { name: "month", label: "30 days", days: 30 },
  { name: "year", label: "365 days", days: 365 },
];

export const DAY: Span = SPANS[0];

/** A day if no span has the name. */
export function spanNamed(name: string | null): Span {
  return SPANS.find((span) => span.name === name) ?? DAY;
}

/** What clocks in the zone show at an instant, as if that were UTC: in ms, whole seconds. */
export function wallMs(ms: number, zone: string): number {
  const seconds = Math.floor(ms / 1000) * 1000;
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(seconds)) part[type] = Number(value);
  const shown = new Date(0);
  shown.setUTCFullYear(part.year!, part.month! - 1, part.day!);
  return shown.setUTCHours(part.hour!, part.minute!, part.second!);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The format is kept: to make one takes fifty times as long as to use it. */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  return format;
}
