import { MILLISECONDS_BELOW, SECONDS_BELOW } from "../../../clients/reading/time.ts";
import { readNumberOrNaN } from "../../../clients/reading/values.ts";
import type { Zone } from "../../../model/time/zone.ts";
import type { PointSink } from "../file-point.ts";
import { ZoneNeededError } from "../format.ts";
import { createClockTimes } from "./clock-times.ts";
import { parseIsoTime, type WrittenTime } from "./iso-time.ts";

/** Reads the times of one file. */
export interface FileTimes {
  /**
   * Reads a number, its text, or a date and time as `parseIsoTime` does, as whole Unix ms. Null if missing, NaN if
   * unreadable, such as a date without a time. Notes a repeated or skipped clock time for the next point. Throws a
   * `ZoneNeededError` for a time without a zone if none is known.
   */
  readMs(value: unknown): number | null;
}

/** The digits of the date in the number `yyyymmddhhmmss`. */
const DATE_DIGITS = 8;

/** Such numbers as milliseconds would be years from 2594 on. */
function isCalendar(number: number): boolean {
  return number >= 19_700_101_000_000 && number < 22_000_000_000_000 && Number.isInteger(number);
}

/** Numbers from the bound of milliseconds up to this are microseconds. */
const MICROSECONDS_BELOW = 1e17;

/** `zone` applies to times without a zone: the operator's, else the format's own, as in `options.zone ?? UTC`. */
export function createFileTimes(zone: Zone | null, sink: Pick<PointSink, "note">): FileTimes {
  const instantOf = createUnzonedReader(zone, sink);
  const written: WrittenTime = { clockMs: 0, offsetMs: 0, isLeapSecond: false };

  function writtenMs(text: string): number {
    const { clockMs, offsetMs, isLeapSecond } = written;
    if (isLeapSecond) sink.note("leap_second");
    return Number.isNaN(offsetMs) ? instantOf(clockMs, text.trim()) : clockMs - offsetMs;
  }

  return {
    readMs(value) {
      if (typeof value === "string" && parseIsoTime(value.trim(), written)) return writtenMs(value);
      const number = readNumberOrNaN(value);
      if (number === null || !isCalendar(number)) return number === null ? null : unixMs(number);
      const text = String(number);
      return parseIsoTime(`${text.slice(0, DATE_DIGITS)}T${text.slice(DATE_DIGITS)}`, written)
        ? writtenMs(text)
        : Number.NaN;
    },
  };
}

/** Converts times without a zone, and notes adjustments; `text` is for error messages. */
export function createUnzonedReader(
  zone: Zone | null,
  sink: Pick<PointSink, "note">,
): (clockMs: number, text: string) => number {
  const clockTimes = zone === null ? null : createClockTimes(zone);
  return (clockMs, text) => {
    if (clockTimes === null) throw new ZoneNeededError(text);
    const instantMs = clockTimes.instantMs(clockMs);
    if (clockTimes.remark !== null) sink.note(clockTimes.remark);
    return instantMs;
  };
}

/** Unix ms of a number, by its magnitude. Programs write 0 for "unknown", so it returns null. */
export function unixMs(number: number): number | null {
  if (number === 0) return null;
  if (!(number < MICROSECONDS_BELOW)) return Number.NaN;
  if (number < SECONDS_BELOW) return Math.trunc(number * 1000);
  return Math.trunc(number < MILLISECONDS_BELOW ? number : number / 1000);
}
