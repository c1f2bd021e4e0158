import { isDay } from "./reading/time.ts";
import { readMagnitudeOrNaN } from "./reading/values.ts";

/*
 * Sentences of NMEA 0183, as receivers log them line by line, and as apps send one of them in a URL:
 *
 *     $GPRMC,024000,A,5231.20048,N,1324.29724,E,25.269972,271.4,020226,,*1C
 *            time   |  latitude    longitude    knots     course date    checksum
 *                   A if the fix is valid
 *
 * A missing value is null, and one that can't be read is NaN.
 */

type Sentence =
  /** The kind without the talker, such as `RMC`, and the fields after it. */
  | { readonly kind: string; readonly fields: readonly string[] }
  | { readonly fault: "unreadable" | "bad_checksum" };

/** The content of an `RMC` sentence, the recommended minimum: everything but the altitude. */
export interface Minimum {
  readonly timeMs: number | null;
  /** Midnight, in Unix milliseconds. */
  readonly dayMs: number | null;
  readonly hasFix: boolean;
  /** Degrees. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** As sent: knots, unless a program other than a receiver wrote it. */
  readonly speed: number | null;
  /** Degrees. */
  readonly bearing: number | null;
}

/** Proprietary sentences begin with a P, such as Garmin's PGRMC, which is not an RMC. */
const BODY = /^[A-OQ-Z][A-Z]([A-Z]{3}),(.*)$/i;

/** No receiver writes longer sentences; the standard allows 82. */
const CHARACTERS_MAX = 256;

/** Reads a text that begins with a sentence; ignores what follows the optional checksum. Null for proprietary ones. */
export function parseSentence(text: string): Sentence | null {
  if (!text.startsWith("$")) return { fault: "unreadable" };
  const star = text.indexOf("*");
  const body = text.slice(1, star < 0 ? undefined : star).trimEnd();
  if (body.length > CHARACTERS_MAX) return { fault: "unreadable" };
  if (star >= 0 && !isChecksum(text.slice(star + 1, star + 3), body)) return { fault: "bad_checksum" };
  const [, kind, fields] = BODY.exec(body) ?? [];
  if (kind === undefined || fields === undefined)
    return body.startsWith("P") ? null : { fault: "unreadable" };
  return { kind: kind.toUpperCase(), fields: fields.split(",") };
}

/** The checksum is the XOR of all characters between the dollar and the star. */
function isChecksum(text: string, body: string): boolean {
  let sum = 0;
  for (let i = 0; i < body.length; i++) sum ^= body.charCodeAt(i);
  return /^[\dA-F]{2}$/i.test(text) && Number.parseInt(text, 16) === sum;
}

export function readMinimum(fields: readonly string[]): Minimum {
  const [time, status, latitude, northOrSouth, longitude, eastOrWest, speed, course, date] = fields;
  return {
    timeMs: readTimeOfDayMs(time),
    dayMs: readDateMs(date),
    hasFix: status === "A",
    latitude: readLatitude(latitude, northOrSouth),
    longitude: readLongitude(longitude, eastOrWest),
    speed: readMagnitudeOrNaN(speed),
    bearing: readMagnitudeOrNaN(course),
  };
}

/** Unix ms of a day and a time of day; null if either is missing. */
export function instantOf(dayMs: number | null, timeMs: number | null): number | null {
  return dayMs === null || timeMs === null ? null : dayMs + timeMs;
}

/** Milliseconds since midnight, from `hhmmss.ss`. A leap second is the last millisecond before the next minute. */
export function readTimeOfDayMs(text: string | undefined): number | null {
  if (isMissing(text)) return null;
  const [, hours, minutes, seconds, fraction = ""] = /^(\d\d)(\d\d)(\d\d)(?:\.(\d*))?$/.exec(text) ?? [];
  if (!(Number(hours) <= 23 && Number(minutes) <= 59 && Number(seconds) <= 60)) return Number.NaN;
  const minuteMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
  return minuteMs + Math.min(Number(seconds) * 1000 + Number(fraction.padEnd(3, "0").slice(0, 3)), 59_999);
}

/** Midnight of `ddmmyy`; years before 80 are in this century. */
function readDateMs(text: string | undefined): number | null {
  if (isMissing(text)) return null;
  const [, day, month, year] = /^(\d\d)(\d\d)(\d\d)$/.exec(text) ?? [];
  return dayStartMs(Number(year) + (Number(year) < 80 ? 2000 : 1900), Number(month), Number(day));
}

/** NaN if the day doesn't exist. */
export function dayStartMs(year: number, month: number, day: number): number {
  return isDay(year, month, day) ? Date.UTC(year, month - 1, day) : Number.NaN;
}

export function readLatitude(text: string | undefined, hemisphere: string | undefined): number | null {
  return readDegrees(text, hemisphere, "N", "S");
}

export function readLongitude(text: string | undefined, hemisphere: string | undefined): number | null {
  return readDegrees(text, hemisphere, "E", "W");
}

/**
 * Degrees of `ddmm.mmmm` or `dddmm.mmmm`. GPSLogger doesn't pad degrees, so the minutes are the two digits before the
 * point and everything after them. Rounded to a tenth of a millimeter, to drop digits that the receiver didn't have.
 */
function readDegrees(
  text: string | undefined,
  hemisphere: string | undefined,
  positive: string,
  negative: string,
): number | null {
  if (isMissing(text)) return null;
  const [, degrees, minutes] = /^(\d{0,3})(\d\d(?:\.\d*)?)$/.exec(text) ?? [];
  const isSouthOrWest = hemisphere === negative;
  // Rounding by the receiver may produce 60 minutes.
  if (!(Number(minutes) <= 60) || (hemisphere !== positive && !isSouthOrWest)) return Number.NaN;
  const value = Math.round((Number(degrees) + Number(minutes) / 60) * 1e9) / 1e9;
  return isSouthOrWest ? 0 - value : value;
}

function isMissing(text: string | undefined): text is undefined | "" {
  return text === undefined || text === "";
}
