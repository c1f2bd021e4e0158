import { METERS_PER_MILE } from "../../model/geo/distance.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { HistoryAnswer, HistoryQuery } from "../../service/queries/history/history-query.ts";
import type { PathLength } from "../../service/queries/history/path-meter.ts";
import { amount, object, optional, plain } from "./shape.ts";

/** Members of the three histories besides their records: the query, its page, the path. */

const BYTES_PER_MEGABYTE = 1_000_000;

/** A member that is absent unless it is true. */
export const incomplete = plain<true>({
  type: "boolean",
  enum: [true],
  description: "Present if records are missing whose loss an operator has acknowledged.",
});

export const queryInfo = {
  time_range: object({
    start: plain<string>({
      type: "string",
      format: "date-time",
      description: "First instant of start_date, in UTC.",
    }),
    end: plain<string>({
      type: "string",
      format: "date-time",
      description: "Last millisecond of end_date, in UTC.",
    }),
  }),
  data_scanned_mb: amount("Data that the query read, in megabytes of 1,000,000 bytes."),
  query_time_ms: amount("Duration of the query, in milliseconds."),
  incomplete: optional(incomplete),
};

export const distance = {
  meters: amount("Length of the path through all positions of the day that pass the filter."),
  miles: amount("The length in miles of 1609.344 m."),
};

export const EXAMPLE_QUERY_INFO = {
  time_range: { start: "2026-01-26T00:00:00.000Z", end: "2026-01-26T23:59:59.999Z" },
  data_scanned_mb: 0.000162,
  query_time_ms: 0.214,
};

export function pageCountsOf({ count, hasMore }: HistoryAnswer) {
  return { count, has_more: hasMore };
}

export function queryInfoOf(
  { bytesRead, isIncomplete }: HistoryAnswer,
  query: HistoryQuery,
  elapsedMs: number,
) {
  return {
    time_range: timeRangeOf(query.range),
    data_scanned_mb: bytesRead / BYTES_PER_MEGABYTE,
    query_time_ms: roundedMs(elapsedMs),
    ...(isIncomplete ? { incomplete: true as const } : {}),
  };
}

/** The API's range ends with its last millisecond; the internal one with the next. */
function timeRangeOf({ startMs, endMs }: TimeRange) {
  return { start: new Date(startMs).toISOString(), end: new Date(endMs - 1).toISOString() };
}

export function roundedMs(elapsedMs: number): number {
  return Math.round(elapsedMs * 1000) / 1000;
}

export function distanceOf(paths: readonly PathLength[]) {
  const meters = paths.reduce((total, [, pathMeters]) => total + pathMeters, 0);
  return { meters, miles: meters / METERS_PER_MILE };
}
