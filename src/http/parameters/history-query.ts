import { ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import { dayCount, dayRange, type LocalDate, type TimeRange, today } from "../../model/time/range.ts";
import { UTC, type Zone } from "../../model/time/zone.ts";
import type { HistoryQuery } from "../../service/queries/history/history-query.ts";
import { invalid } from "./parameter.ts";

/** What the three history endpoints share, as their parameters give it. */
export interface HistoryValues {
  readonly start_date: LocalDate | null;
  readonly end_date: LocalDate | null;
  readonly limit: number;
  readonly offset: number;
  readonly order: "asc" | "desc";
  readonly timezone: Zone | null;
  readonly min_accuracy?: number | null;
  readonly distance_travelled?: boolean;
}

/** The dates that were asked for and the query they make. */
export interface DatedQuery {
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly query: HistoryQuery;
}

/** A leap year. */
export const RANGE_DAYS_MAX = 366;

export function readHistoryQuery(values: HistoryValues, nowMs: number): Result<DatedQuery, ServiceError> {
  const zone = values.timezone ?? UTC;
  const startDate = values.start_date ?? today(zone, nowMs);
  const endDate = values.end_date ?? today(zone, nowMs);
  const days = dayCount(startDate, endDate);
  if (days < 1) return invalid("start_date must not be after end_date");
  if (days > RANGE_DAYS_MAX) return invalid(`start_date to end_date must be at most ${RANGE_DAYS_MAX} days`);
  const withDistance = values.distance_travelled ?? false;
  if (withDistance && days > 1) {
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
    },
  });
}
