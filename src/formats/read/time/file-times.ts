import { MILLISECONDS_BELOW, SECONDS_BELOW } from "../../../clients/reading/time.ts";
import { readNumber } from "../../../clients/reading/values.ts";
import type { Zone } from "../../../time/zone.ts";
import type { PointSink } from "../file-point.ts";
import { ZoneNeededError } from "../format-error.ts";
import { createClockTimes } from "./clock-times.ts";
import { parseIsoTime, type WrittenTime } from "./iso-time.ts";

/** Reads the times of one file. */
export interface FileTimes {
  /**
   * Unix ms, whole, of a number, its text or ISO 8601; null where it is no time, as a date without one, or lies before
   * 1970. What was done to a time that clocks show twice or never is noted for the point that comes next. Throws a
   * `ZoneNeededError` at a time without zone where nobody said which.
   */
  readMs(value: unknown): number | null;
}

/** Numbers from milliseconds' bound up to this are microseconds. */
const MICROSECONDS_BELOW = 1e17;

/**
 * `zone` is the one of times that name none: what the operator said, else the format's own where it has one, as
 * `options.zone ?? UTC`.
 */
export function createFileTimes(zone: Zone | null, sink: Pick<PointSink, "note">): FileTimes {
  const instantOf = createUnzonedReader(zone, sink);
  const written: WrittenTime = { clockMs: 0, offsetMs: 0 };

  return {
    readMs(value) {
      if (typeof value === "string") {
        const text = value.trim();
        if (parseIsoTime(text, written)) {
          const { clockMs, offsetMs } = written;
          return sinceEpoch(Number.isNaN(offsetMs) ? instantOf(clockMs, text) : clockMs - offsetMs);
        }
      }
      const number = readNumber(value);
      return number === null ? null : unixMs(number);
    },
  };
}

/** Finds the instants of times without zone, and notes what was done to them; `text` is for people. */
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

/** Unix ms of a number, by its size; null where it is none. 0 is what programs write that know no time. */
export function unixMs(number: number): number | null {
  if (!(number > 0 && number < MICROSECONDS_BELOW)) return null;
  if (number < SECONDS_BELOW) return Math.trunc(number * 1000);
  return Math.trunc(number < MILLISECONDS_BELOW ? number : number / 1000);
}

/** No position is older; what says so, says it of a clock that was never set. */
export function sinceEpoch(instantMs: number): number | null {
  return instantMs >= 0 ? instantMs : null;
}
