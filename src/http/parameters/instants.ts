import { ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import { RANGE_DAYS_MAX } from "./history-query.ts";
import { requiredNumber } from "./kinds.ts";
import { invalid } from "./parameter.ts";

/** A range of time by its instants, where calendars don't matter. */

/** The last instant that a `Date` can be. */
const INSTANT_MS_MAX = 8_640_000_000_000_000;
export const INSTANT_BOUNDS = { minimum: 0, maximum: INSTANT_MS_MAX };

/** Needed as both are: a range that nobody chose would be too long or too short for somebody. */
export const instants = {
  start: requiredNumber("integer", {
    description: "First instant of the range, Unix ms.",
    ...INSTANT_BOUNDS,
    example: Date.UTC(2026, 2, 20),
  }),
  end: requiredNumber("integer", {
    description: "End of the range, Unix ms: the first instant behind it.",
    ...INSTANT_BOUNDS,
    example: Date.UTC(2026, 2, 21),
  }),
};

/** The values of both. */
export interface Instants {
  readonly start: number;
  readonly end: number;
}

/** The range, where it is one and no longer than the endpoint takes. */
export function readInstants(
  { start, end }: Instants,
  daysMax = RANGE_DAYS_MAX,
): Result<TimeRange, ServiceError> {
  if (start >= end) return invalid("start must be before end");
  if (end - start > daysMax * MS_PER_DAY) return invalid(`start to end must be at most ${daysMax} days`);
  return ok({ startMs: start, endMs: end });
}
