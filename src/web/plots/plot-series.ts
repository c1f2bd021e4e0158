import type { PlottedField, SeriesAnswer } from "../api/answers.ts";
import type { Track } from "../history/track.ts";
import type { TimeRange } from "../time/local-day.ts";

/** Numbers over time. */
export interface PlotSeries {
  /** Unix seconds, as uPlot requires. */
  readonly timestamp: readonly number[];
  readonly min: readonly (number | null)[];
  readonly max: readonly (number | null)[];
  readonly last: readonly (number | null)[];
}

const MS_PER_SECOND = 1000;

/** Speeds are computed over at least this time. */
const SPEED_MS_MIN = 30_000;

/** The plot breaks after a longer silence, like the line on the map. */
const SILENCE_SECONDS_MAX = 600;
/** In a long range, whose buckets are longer than that, one empty bucket is a silence. */
const EMPTY_BUCKETS = 2;

/** A field of an answer of `buckets` parts, converted to the page's unit. */
export function plotSeries(
  answer: SeriesAnswer,
  field: PlottedField,
  factor: number,
  buckets: number,
): PlotSeries {
  const scaled = (values: readonly (number | null)[]) => values.map((value) => value && value * factor);
  const [min, max, last] = [`${field}_min`, `${field}_max`, `${field}_last`] as const;
  const whole = {
    timestamp: answer.timestamp.map((ms) => ms / MS_PER_SECOND),
    min: scaled(answer[min]),
    max: scaled(answer[max]),
    last: scaled(answer[last]),
  };
  return broken(whole, buckets);
}

/**
 * The speed between positions, for devices that report none. It is computed over at least 30 seconds, since the error
 * of two fixes that are close in time is too large. It is null where the line breaks.
 */
export function speedSeries(track: Track, factor: number): PlotSeries {
  const speeds: (number | null)[] = [];
  let from = 0;
  let meters = 0;
  for (let index = 1; index <= track.count; index++) {
    if (!track.isJoined(index)) {
      speeds.push(null);
      from = index;
      meters = 0;
      continue;
    }
    const ms = track.timestampMs[index]!;
    meters += track.metersTo(index);
    while (from + 1 < index && ms - track.timestampMs[from + 1]! >= SPEED_MS_MIN)
      meters -= track.metersTo(++from);
    const elapsedMs = ms - track.timestampMs[from]!;
    speeds.push(elapsedMs < SPEED_MS_MIN ? null : (Math.max(0, meters) / elapsedMs) * MS_PER_SECOND * factor);
  }
  const timestamp = track.timestampMs.map((ms) => ms / MS_PER_SECOND);
  return { timestamp, min: speeds, max: speeds, last: speeds };
}

export function isKnown(answer: SeriesAnswer, field: PlottedField): boolean {
  return answer[`${field}_max`].some((value) => value !== null);
}

/** The greatest value, and its time in Unix ms; null if there are no values. */
export function greatest({
  timestamp,
  max,
}: PlotSeries): { readonly value: number; readonly ms: number } | null {
  let at = -1;
  max.forEach((value, index) => {
    if (value !== null && (at < 0 || value > max[at]!)) at = index;
  });
  return at < 0 ? null : { value: max[at]!, ms: timestamp[at]! * MS_PER_SECOND };
}

/** The part of a series whose buckets end in a range. */
export function seriesWithin(
  { timestamp, min, max, last }: PlotSeries,
  { startMs, endMs }: TimeRange,
): PlotSeries {
  const isWithin = (_: unknown, index: number) => {
    const ms = timestamp[index]! * MS_PER_SECOND;
    return ms >= startMs && ms <= endMs;
  };
  return {
    timestamp: timestamp.filter(isWithin),
    min: min.filter(isWithin),
    max: max.filter(isWithin),
    last: last.filter(isWithin),
  };
}

/** The last value at or before an instant; null within a silence. */
export function valueAt({ timestamp, last }: PlotSeries, ms: number): number | null {
  const index = timestamp.findLastIndex((second) => second * MS_PER_SECOND <= ms);
  return index < 0 ? null : last[index]!;
}

/** Adds a null in the middle of each silence, which breaks the plot. */
function broken({ timestamp, min, max, last }: PlotSeries, buckets: number): PlotSeries {
  const count = timestamp.length;
  const bucketSeconds = count === 0 ? 0 : (timestamp[count - 1]! - timestamp[0]!) / buckets;
  const silenceSeconds = Math.max(SILENCE_SECONDS_MAX, EMPTY_BUCKETS * bucketSeconds);
  const result = {
    timestamp: [] as number[],
    min: [] as (number | null)[],
    max: [] as (number | null)[],
    last: [] as (number | null)[],
  };
  const add = (second: number, ...values: readonly [number | null, number | null, number | null]) => {
    result.timestamp.push(second);
    result.min.push(values[0]);
    result.max.push(values[1]);
    result.last.push(values[2]);
  };
  for (let index = 0; index < count; index++) {
    const before = timestamp[index - 1];
    if (before !== undefined && timestamp[index]! - before > silenceSeconds)
      add((before + timestamp[index]!) / 2, null, null, null);
    add(timestamp[index]!, min[index]!, max[index]!, last[index]!);
  }
  return result;
}
