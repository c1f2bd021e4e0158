import { type LocalDay, MS_PER_HOUR, type Span } from "./local-day.ts";

/* Formats times. Times of day include their zone. */

/** English, with the date and clock formats of the region of a browser's language. */
export function localeOf(language: string): Intl.Locale {
  const { region } = new Intl.Locale(language).maximize();
  return new Intl.Locale("en", { region: region ?? "US", calendar: "gregory", numberingSystem: "latn" });
}

export const LOCALE = localeOf(globalThis.navigator?.language ?? "en-US");

/** The locale of times of day: it has the user's choice of 12 or 24 hours. */
let timeLocale = LOCALE;

/** The locale of times of day. Another choice makes another object, so that parts know when to draw again. */
export function localeOfTimes(): Intl.Locale {
  return timeLocale;
}

/** Sets how times of day are written; null is the way of the browser's region. */
export function setHourCycle(hourCycle: "h12" | "h23" | null): void {
  if (timeLocale.hourCycle === (hourCycle ?? undefined)) return;
  timeLocale = hourCycle === null ? LOCALE : new Intl.Locale(LOCALE, { hourCycle });
}

const MS_PER_SECOND = 1000;
const MS_PER_MINUTE = 60_000;
const MS_PER_DAY = 86_400_000;

const DATE = { weekday: "short", day: "numeric", month: "short", year: "numeric" } as const;
const MINUTES = { hour: "numeric", minute: "2-digit", timeZoneName: "short" } as const;
const SECONDS = { ...MINUTES, second: "2-digit" } as const;

const STYLES = {
  instant: { ...DATE, ...SECONDS },
  dayMinute: { ...DATE, ...MINUTES },
  clock: SECONDS,
  minute: MINUTES,
  day: DATE,
  date: { ...DATE, weekday: undefined },
} as const;

type StyleName = keyof typeof STYLES;

/** `Sat 21 Nov 2026, 17:05:49 EST`. */
export function instantText(ms: number, zone: string, locale = timeLocale): string {
  return formatOf("instant", zone, locale).format(ms);
}

/** `Sat 21 Nov 2026, 17:05 EST`. */
export function dayMinuteText(ms: number, zone: string, locale = timeLocale): string {
  return formatOf("dayMinute", zone, locale).format(ms);
}

/** `17:05:49 EST`. */
export function clockText(ms: number, zone: string, locale = timeLocale): string {
  return formatOf("clock", zone, locale).format(ms);
}

/** The time of a position: `17:05:49 EST`, with the day if several days are shown. */
export function positionTime(ms: number, zone: string, { days }: Pick<Span, "days">): string {
  return days > 1 ? instantText(ms, zone) : clockText(ms, zone);
}

/** `17:05 EST`. */
export function minuteText(ms: number, zone: string, locale = timeLocale): string {
  return formatOf("minute", zone, locale).format(ms);
}

/** `16:20 – 17:05 EST`; with both zones if clocks change between them. */
export function minuteRangeText(startMs: number, endMs: number, zone: string, locale = timeLocale): string {
  const start = minuteText(startMs, zone, locale);
  const end = minuteText(endMs, zone, locale);
  const name = end.slice(end.lastIndexOf(" "));
  return `${start.endsWith(name) ? start.slice(0, -name.length) : start} – ${end}`;
}

/** `Sat 21 Nov 2026`. */
export function dayText(day: LocalDay, locale: Intl.Locale = LOCALE): string {
  return formatOf("day", "UTC", locale).format(Date.parse(day));
}

/** `21 Nov 2026`, for a list of dates. */
export function dateText(day: LocalDay, locale: Intl.Locale = LOCALE): string {
  return formatOf("date", "UTC", locale).format(Date.parse(day));
}

/** A duration in its two largest units: `1 h 12 min`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / MS_PER_SECOND);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(ms / MS_PER_MINUTE);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return twoUnits(minutes, 60, "h", "min");
  return twoUnits(Math.round(ms / MS_PER_HOUR), 24, "d", "h");
}

/** The time since an instant: `3 s ago`. It may be in the future, since a device's clock may be ahead. */
export function agoText(ms: number, nowMs: number): string {
  const elapsedMs = Math.abs(nowMs - ms);
  if (elapsedMs < MS_PER_SECOND) return "now";
  const text = wholeUnits(elapsedMs);
  return ms < nowMs ? `${text} ago` : `in ${text}`;
}

function wholeUnits(ms: number): string {
  if (ms < MS_PER_MINUTE) return `${Math.floor(ms / MS_PER_SECOND)} s`;
  if (ms < MS_PER_HOUR) return `${Math.floor(ms / MS_PER_MINUTE)} min`;
  if (ms < MS_PER_DAY) return `${Math.floor(ms / MS_PER_HOUR)} h`;
  const days = Math.floor(ms / MS_PER_DAY);
  return days === 1 ? "1 day" : `${days} days`;
}

function twoUnits(count: number, perGreater: number, greater: string, lesser: string): string {
  const rest = count % perGreater;
  const whole = `${Math.floor(count / perGreater)} ${greater}`;
  return rest === 0 ? whole : `${whole} ${rest} ${lesser}`;
}

const formats = new WeakMap<Intl.Locale, Map<string, Intl.DateTimeFormat>>();

/** Formats are cached: creating one takes fifty times as long as using it. */
function formatOf(style: StyleName, zone: string, locale: Intl.Locale): Intl.DateTimeFormat {
  const ofLocale = formats.get(locale) ?? new Map<string, Intl.DateTimeFormat>();
  formats.set(locale, ofLocale);
  const key = `${style} ${zone}`;
  let format = ofLocale.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(locale, { ...STYLES[style], timeZone: zone });
    ofLocale.set(key, format);
  }
  return format;
}
