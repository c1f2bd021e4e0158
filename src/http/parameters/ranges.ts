import { ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { FieldChoice } from "../../model/field-choice.ts";
import { dayCount, dayRange, type LocalDate, type TimeRange, today } from "../../model/time/range.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import { UTC, type Zone } from "../../model/time/zone.ts";
import type { HistoryQuery } from "../../service/queries/history/history-query.ts";
import { requiredNumber } from "./kinds.ts";
import { invalid } from "./parameter.ts";

/* The time range of a query: dates of a zone, or instants if calendars don't matter. */

/** The parameters that the three history endpoints share. */
export interface HistoryValues {
  readonly start_date: LocalDate | null;
  readonly end_date: LocalDate | null;
  readonly limit: number;
  readonly offset: number;
  readonly order: "asc" | "desc";
  readonly timezone: Zone | null;
  readonly min_accuracy?: number | null;
  readonly distance_travelled?: boolean;
  readonly fields?: FieldChoice;
}

export interface DatedQuery extends DateRange {
  readonly query: HistoryQuery;
}

export const RANGE_DAYS_MAX = 366;

export interface DateRange {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
}

/** The days of a zone that a request names; each bound defaults to today. */
export function readDates(
  values: Pick<HistoryValues, "start_date" | "end_date">,
  zone: Zone,
  nowMs: number,
): Result<DateRange & { readonly count: number }, ServiceError> {
  const startDate = values.start_date ?? today(zone, nowMs);
  const endDate = values.end_date ?? today(zone, nowMs);
  const count = dayCount(startDate, endDate);
  if (count < 1) return invalid("start_date must not be after end_date");
  if (count > RANGE_DAYS_MAX) return invalid(`start_date to end_date must be at most ${RANGE_DAYS_MAX} days`);
  return ok({ startDate, endDate, count });
}

export function readHistoryQuery(values: HistoryValues, nowMs: number): Result<DatedQuery, ServiceError> {
  const zone = values.timezone ?? UTC;
  const dates = readDates(values, zone, nowMs);
  if (!dates.ok) return dates;
  const { startDate, endDate, count } = dates.value;
  const withDistance = values.distance_travelled ?? false;
  if (withDistance && count > 1) {
    return invalid("distance_travelled is only supported when start_date equals end_date");
  }
  const range: TimeRange = dayRange(startDate, endDate, zone);
  return ok({
    startDate,
    endDate,
    query: {
      range,
      order: values.order,
      offset: values.offset,
      limit: values.limit,
      accuracyMetersMax: values.min_accuracy ?? null,
      withDistance,
      ...(values.fields === undefined ? {} : { fields: values.fields }),
    },
  });
}

/** The last instant of a `Date`. */
const INSTANT_MS_MAX = 8_640_000_000_000_000;
export const INSTANT_BOUNDS = { minimum: 0, maximum: INSTANT_MS_MAX };

/** Both are required: no default range would suit everyone. */
export const instants = {
  start: requiredNumber("integer", {
    description: "First instant of the range, Unix ms.",
    ...INSTANT_BOUNDS,
    example: Date.UTC(2026, 2, 20),
  }),
  end: requiredNumber("integer", {
    description: "End of the range, Unix ms: the first instant after it.",
    ...INSTANT_BOUNDS,
    example: Date.UTC(2026, 2, 21),
  }),
};

export interface Instants {
  readonly start: number;
  readonly end: number;
}

/** The range, if it is valid and not too long for the endpoint. */
export function readInstants(
  { start, end }: Instants,
  daysMax = RANGE_DAYS_MAX,
): Result<TimeRange, ServiceError> {
  if (start >= end) return invalid("start must be before end");
  if (end - start > daysMax * MS_PER_DAY) return invalid(`start to end must be at most ${daysMax} days`);
  return ok({ startMs: start, endMs: end });
}
