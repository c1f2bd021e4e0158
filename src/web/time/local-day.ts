/*
 * Calendar days in a zone. Most have 24 hours, days of a clock change 23 or 25, and some zones have skipped a day. Each
 * instant belongs to one day: if clocks go back over midnight, the repeated minutes belong to the new day. The server
 * has the same rule.
 */

/** A day as `YYYY-MM-DD`, of years 1000 to 2999: text order is time order. */
export type LocalDay = string & { readonly brand: "LocalDay" };

/** `startMs` is included, `endMs` is not. */
export interface TimeRange {
  readonly startMs: number;
  readonly endMs: number;
}

export const MS_PER_HOUR = 3_600_000;
const MS_PER_DAY = 24 * MS_PER_HOUR;

/** Null if the text is not a day that exists. */
export function parseDay(text: string): LocalDay | null {
  if (!/^[12]\d{3}-\d\d-\d\d$/.test(text)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || dayOfUtc(ms) !== text ? null : (text as LocalDay);
}

/** The day of an instant. */
export function dayAt(ms: number, zone: string): LocalDay {
  const wallDay = dayOfUtc(wallMs(ms, zone));
  const next = addDays(wallDay, 1);
  return startOf(next, zone) <= ms ? next : wallDay;
}

export function addDays(day: LocalDay, days: number): LocalDay {
  return dayOfUtc(Date.parse(day) + days * MS_PER_DAY);
}

/** The range of a day, or of several days that end with it. */
export function rangeOf(day: LocalDay, zone: string, days = 1): TimeRange {
  return { startMs: startOf(addDays(day, 1 - days), zone), endMs: startOf(addDays(day, 1), zone) };
}

/** The hours of a day by its clocks. The first and the last may be shorter. */
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
  // Clocks skipped midnight. The change is between the candidates, which use the offsets before and after it.
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

/** Caches the current day, since the page needs it in every frame and `Intl` takes a tenth of a millisecond. */
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

export type SpanName = "recent" | "day" | "week" | "month" | "year";

/** The length of the shown range: a day, or several days that end with it. */
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

/** The trail that leads to a device. It is no day, but a part of the last one. */
export const RECENT: Span = { name: "recent", label: "Last 30 minutes", days: 1 };
export const RECENT_MS = MS_PER_HOUR / 2;

/** The spans of a share link. */
export const VISITOR_SPANS: typeof SPANS = [RECENT, ...SPANS];

/** Returns the first span if none has the name. */
export function spanNamed(name: string | null, spans: typeof SPANS = SPANS): Span {
  return spans.find((span) => span.name === name) ?? spans[0];
}

/** The local time of an instant as if it were UTC, in ms, rounded down to seconds. */
export function wallMs(ms: number, zone: string): number {
  const seconds = Math.floor(ms / 1000) * 1000;
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(seconds)) part[type] = Number(value);
  const wall = new Date(0);
  wall.setUTCFullYear(part.year!, part.month! - 1, part.day!);
  return wall.setUTCHours(part.hour!, part.minute!, part.second!);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Formats are cached: creating one takes fifty times as long as using it. */
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
