import { isDay, twoDigits } from "../../../clients/reading/time.ts";
import { COLON, MINUS, SPACE, ZERO } from "../../../lib/text/ascii.ts";
import { MS_PER_MINUTE } from "../../../model/time/units.ts";

/** A time as its text says it. */
export interface WrittenTime {
  /** What clocks show, in ms since 1970 as if it were UTC. */
  clockMs: number;
  /** What clocks are ahead of UTC; NaN where the text doesn't say. */
  offsetMs: number;
  /** Whether it is the 60th second of its minute, which is then taken for the millisecond before it. */
  isLeapSecond: boolean;
}

const LEAP_SECOND_MS = 59_999;

/** `yyyy-mm-ddThh:mm`, which all of them begin with. */
const MINUTES_END = 16;

/**
 * Reads ISO 8601 with a date and a time of day: seconds and their fraction may be missing, a blank may stand for the T
 * and before the zone, which is `Z`, `UTC`, `GMT`, `±hh:mm`, `±hhmm`, `±hh` or nothing. Other spellings in the same
 * order are read too: `2026/05/21 10:47:00+02` as GDAL writes it, `20260521T104700Z`. False for any other text; a
 * date alone is no time. Digit by digit it takes a third of what an expression and `Date.parse` take.
 */
export function parseIsoTime(text: string, out: WrittenTime): boolean {
  if (parsePlainIso(text, out)) return true;
  const plain = respelled(text);
  return plain !== null && parsePlainIso(plain, out);
}

/** The same separators or none between the parts of a date, and of a time of day; then the zone. */
const SPELLING =
  /^(\d{4})([-/.]?)(\d\d?)\2(\d\d?)(?:[t_-]|,?\s+)(\d\d?)(:?)(\d\d)(?:\6(\d\d)(?:[.,](\d+))?)?\s*(\D.*)?$/i;
const CHARACTERS_MAX = 64;
/** What a zone may have before and behind its offset. A name alone says no offset that is read here. */
const AROUND_OFFSET = /^(?:utc|gmt)(?=[+-])|(?<=[\dz])(?:\[[^\]]*\])+$/gi;

/** A date and a time of day in plain ISO 8601; null where a text is neither. */
function respelled(text: string): string | null {
  if (text.length > CHARACTERS_MAX) return null;
  const [
    ,
    year,
    mark,
    month = "",
    day = "",
    hour = "",
    colon,
    minute,
    second = "00",
    fraction = "0",
    zone = "",
  ] = SPELLING.exec(text) ?? [];
  if (year === undefined) return null;
  // Without marks between them nobody knows which digit is whose, unless all are written.
  if (mark === "" && (month.length < 2 || day.length < 2)) return null;
  if (colon === "" && hour.length < 2) return null;
  const offset = zone.replace("\u2212", "-").replaceAll(AROUND_OFFSET, "");
  const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  return `${date}T${hour.padStart(2, "0")}:${minute}:${second}.${fraction}${offset}`;
}

function parsePlainIso(text: string, out: WrittenTime): boolean {
  if (text.length < MINUTES_END || !hasIsoMarks(text)) return false;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  // Written so that NaN, of what is no digit, fails it too.
  if (!(year >= 1 && isDay(year, month, day) && hour <= 24 && minute <= 59)) return false;

  let at = MINUTES_END;
  let ms = 0;
  let isLeapSecond = false;
  if (text.charCodeAt(at) === COLON) {
    const second = twoDigits(text, at + 1);
    if (!(second <= 60)) return false;
    at += 3;
    const end = fractionEnd(text, at);
    isLeapSecond = second === 60;
    // Unix time has no leap second, and what lies in the next one is another's.
    ms = isLeapSecond ? LEAP_SECOND_MS : second * 1000 + fractionMs(text, at, end);
    at = end;
  }
  if (hour === 24 && (minute > 0 || ms > 0)) return false;
  const offsetMs = parseOffset(text, at);
  if (offsetMs === null) return false;
  out.clockMs = dayStartMs(year, month, day) + (hour * 60 + minute) * MS_PER_MINUTE + ms;
  out.offsetMs = offsetMs;
  out.isLeapSecond = isLeapSecond;
  return true;
}

function hasIsoMarks(text: string): boolean {
  const between = text.charCodeAt(10) | SPACE; // A small t, or the blank itself.
  return (
    text.charCodeAt(4) === MINUS &&
    text.charCodeAt(7) === MINUS &&
    (between === 0x74 || between === SPACE) &&
    text.charCodeAt(13) === COLON
  );
}

/** Where the digits behind a dot or comma end; `at` itself where there are none. */
function fractionEnd(text: string, at: number): number {
  const mark = text.charCodeAt(at);
  if (mark !== 0x2e && mark !== 0x2c) return at;
  let end = at + 1;
  while (isDigit(text.charCodeAt(end))) end++;
  return end > at + 1 ? end : at;
}

/** Whole milliseconds of the fraction of a second between its mark and `end`; finer digits are cut off. */
function fractionMs(text: string, at: number, end: number): number {
  let ms = 0;
  for (let i = 1; i <= 3; i++) ms = ms * 10 + (at + i < end ? text.charCodeAt(at + i) - ZERO : 0);
  return ms;
}

/** The rest of a text as an offset in ms; NaN where nothing is left, null where it is none. */
function parseOffset(text: string, from: number): number | null {
  if (from === text.length) return Number.NaN;
  const at = text.charCodeAt(from) === SPACE ? from + 1 : from;
  const sign = text[at];
  const rest = text.length - at - 1;
  if (sign !== "+" && sign !== "-") return /^(z|utc|gmt)$/i.test(text.slice(at)) ? 0 : null;
  const hours = twoDigits(text, at + 1);
  const hasColon = text.charCodeAt(at + 3) === COLON;
  const minutes = rest === 2 ? 0 : twoDigits(text, hasColon ? at + 4 : at + 3);
  if (rest !== 2 && rest !== (hasColon ? 5 : 4)) return null;
  if (!(hours <= 23 && minutes <= 59)) return null;
  const offsetMs = (hours * 60 + minutes) * MS_PER_MINUTE;
  return sign === "-" ? 0 - offsetMs : offsetMs;
}

/** Midnight of a day that exists. `Date.UTC` reads 0 to 99 as 19xx, and every 400 years the calendar repeats. */
function dayStartMs(year: number, month: number, day: number): number {
  if (year >= 100) return Date.UTC(year, month - 1, day);
  return Date.UTC(year + 400, month - 1, day) - Date.UTC(2370, 0, 1);
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= ZERO + 9;
}
