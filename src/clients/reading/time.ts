import { ZERO } from "../../lib/text/ascii.ts";
import type { ClientPoint } from "../point.ts";
import type { MessageContext } from "./read-message.ts";
import { firstPresent, isPresent, type JsonObject, readNumber } from "./values.ts";

/** Smaller numbers are Unix seconds (until the year 5138). */
export const SECONDS_BELOW = 1e11;
/** Smaller numbers are Unix milliseconds. */
export const MILLISECONDS_BELOW = 1e14;

/** ISO 8601 with `Z`, `±hh:mm` or `±hhmm`. A blank may replace the T, and a text without a zone is UTC. */
const ISO = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}:?\d{2})?$/i;

/** Unix ms, whole; null if it can't be read. Times before 1970 are invalid. */
export function readTimeMs(value: unknown): number | null {
  const timeMs = timeMsOf(value);
  return Number.isFinite(timeMs) ? timeMs : null;
}

/** Like `readTimeMs`, but NaN for a value that is not a time, and infinite for a time that no phone can mean. */
export function readTimeMsOrNaN(value: unknown): number | null {
  return isPresent(value) ? timeMsOf(value) : null;
}

function timeMsOf(value: unknown): number {
  const wholeSecondMs = typeof value === "string" ? readWholeSecondMs(value) : Number.NaN;
  if (!Number.isNaN(wholeSecondMs)) return wholeSecondMs;
  const number = readNumber(value);
  if (number !== null) return fromNumber(number);
  if (typeof value !== "string") return Number.NaN;
  const iso = ISO.exec(value.trim());
  if (iso === null) return Number.NaN;
  const [, date = "", clock, zone = "Z"] = iso;
  if (!isDay(Number(date.slice(0, 4)), twoDigits(date, 5), twoDigits(date, 8))) return Number.NaN;
  const timeMs = Date.parse(`${date}T${clock}${withColon(zone)}`);
  return timeMs > 0 || Number.isNaN(timeMs) ? timeMs : Number.NEGATIVE_INFINITY;
}

function fromNumber(number: number): number {
  if (number <= 0) return Number.NEGATIVE_INFINITY;
  if (number >= MILLISECONDS_BELOW) return Number.POSITIVE_INFINITY;
  return Math.trunc(number < SECONDS_BELOW ? number * 1000 : number);
}

function withColon(zone: string): string {
  if (zone.length !== "+hhmm".length) return zone.toUpperCase();
  return `${zone.slice(0, 3)}:${zone.slice(3)}`;
}

/** Whether the day exists: JavaScript's Date accepts February 30 as a day in March. */
export function isDay(year: number, month: number, day: number): boolean {
  if (!(month >= 1 && month <= 12 && day >= 1)) return false;
  return day <= 28 || day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/**
 * Unix ms of `2026-02-02T02:40:00Z`; NaN for any other form and for times before 1970. Batches have hundreds of times,
 * and reading digit by digit takes half as long as `Date.parse`.
 */
function readWholeSecondMs(text: string): number {
  if (text.length !== "yyyy-mm-ddThh:mm:ssZ".length || text[19] !== "Z" || text[10] !== "T")
    return Number.NaN;
  if (text[4] !== "-" || text[7] !== "-" || text[13] !== ":" || text[16] !== ":") return Number.NaN;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  // NaN, which stands for a non-digit, fails these comparisons too.
  const isTime = year >= 1970 && hour <= 23 && minute <= 59 && second <= 59;
  if (!isTime || !isDay(year, month, day)) return Number.NaN;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

export function twoDigits(text: string, index: number): number {
  const tens = text.charCodeAt(index) - ZERO;
  const ones = text.charCodeAt(index + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** The dialects' names for the time of a fix. */
const TIME_NAMES = ["timestamp", "tst", "time", "datetime", "timeoffset", "fixTime", "ts"] as const;

/** The time of a message whose client always sends one. */
export function readTime(fields: JsonObject): number | null {
  return readTimeMsOrNaN(findTime(fields));
}

/** The time as sent, under the first of the usual names that has a value; null if there is none. */
export function findTime(fields: JsonObject): unknown {
  return firstPresent(...TIME_NAMES.map((name) => fields[name]));
}

type PointTime = Pick<ClientPoint, "timestampMs" | "isTimedByArrival">;

/**
 * For clients that omit the time if it is now. The time of arrival is used only if no member of the message could be a
 * time, by its name or by its value.
 */
export function timeOrArrival({ arrivedMs }: MessageContext, ...parts: readonly JsonObject[]): PointTime {
  for (const fields of parts) {
    const timestampMs = readTime(fields);
    if (timestampMs !== null) return { timestampMs };
  }
  if (parts.some((fields) => mayTellTime(fields, arrivedMs))) return { timestampMs: Number.NaN };
  return { timestampMs: arrivedMs, isTimedByArrival: true };
}

/** Names of members that may be a time. */
const LIKE_A_TIME =
  /[Tt]ime|TIME|[Dd]ate|DATE|[Ss]tamp|STAMP|[Ee]poch|[Cc]lock|_at$|[a-z]At$|^(?:ts|tst|utc|UTC|at|when)$/;
/** Names of members that are not a time, although their values may look like one. */
const NOT_A_TIME = /zone|id$|uuid|^driver|odometer|distance/i;
/** A number within this time of the arrival may be a time. */
const LIKELY_WITHIN_MS = 10 * 365 * 86_400_000;

function mayTellTime(fields: JsonObject, arrivedMs: number): boolean {
  return Object.entries(fields).some(([name, value]) => {
    if (NOT_A_TIME.test(name) || value === null || value === undefined) return false;
    if (LIKE_A_TIME.test(name)) return true;
    if (!isPresent(value)) return false;
    const timeMs = readTimeMs(value);
    return timeMs !== null && timeMs > arrivedMs - LIKELY_WITHIN_MS && timeMs < arrivedMs + LIKELY_WITHIN_MS;
  });
}
