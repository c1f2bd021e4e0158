import { inOneStep, type Steps } from "../../lib/schedule/steps.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { PositionBlock, PositionReading } from "./positions.ts";

/*
 * A device's numbers over time, reduced for a plot: the minimum, maximum and last of each of some equal parts of a
 * range (buckets), so that no peak is lost.
 */

/** The buckets with a record, oldest first. */
export interface Series {
  /** Unix ms of the last record of each bucket. */
  readonly timestampMs: Float64Array;
  /** In the order of the requested fields. */
  readonly fields: readonly SeriesField[];
}

/** NaN if no record of a bucket has the field. */
export interface SeriesField {
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly last: Float64Array;
}

export class SeriesReading implements PositionReading<Series> {
  readonly #range: TimeRange;
  readonly #timestampMs: Float64Array;
  readonly #fields: readonly SeriesField[];

  constructor(range: TimeRange, buckets: number, fieldCount: number) {
    const column = () => new Float64Array(buckets).fill(Number.NaN);
    this.#range = range;
    this.#timestampMs = column();
    this.#fields = Array.from({ length: fieldCount }, () => ({
      min: column(),
      max: column(),
      last: column(),
    }));
  }

  add({ count, timestampMs, numbers }: PositionBlock): void {
    for (let from = 0; from < count; ) {
      const bucket = this.#bucketOf(timestampMs[from]!);
      const endMs = this.#startMsOf(bucket + 1);
      let to = from + 1;
      while (to < count && timestampMs[to]! < endMs) to++;
      this.#timestampMs[bucket] = timestampMs[to - 1]!;
      for (const [index, field] of this.#fields.entries()) put(field, bucket, numbers[index]!, from, to);
      from = to;
    }
  }

  // Both multiply before they divide: with whole numbers no bucket begins too early by rounding.

  #bucketOf(instantMs: number): number {
    const { startMs, endMs } = this.#range;
    return Math.floor(((instantMs - startMs) * this.#timestampMs.length) / (endMs - startMs));
  }

  #startMsOf(bucket: number): number {
    const { startMs, endMs } = this.#range;
    return startMs + Math.ceil((bucket * (endMs - startMs)) / this.#timestampMs.length);
  }

  end(): Steps<Series> {
    return inOneStep(() => {
      const isHeld = (_: number, bucket: number) => !Number.isNaN(this.#timestampMs[bucket]!);
      return {
        timestampMs: this.#timestampMs.filter(isHeld),
        fields: this.#fields.map(({ min, max, last }) => ({
          min: min.filter(isHeld),
          max: max.filter(isHeld),
          last: last.filter(isHeld),
        })),
      };
    });
  }
}

/** Adds rows to a bucket. Its initial NaN makes comparisons false. */
function put(field: SeriesField, bucket: number, column: Float64Array, from: number, to: number): void {
  let min = field.min[bucket]!;
  let max = field.max[bucket]!;
  let last = field.last[bucket]!;
  for (let row = from; row < to; row++) {
    const value = column[row]!;
    if (Number.isNaN(value)) continue;
    if (!(min <= value)) min = value;
    if (!(max >= value)) max = value;
    last = value;
  }
  field.min[bucket] = min;
  field.max[bucket] = max;
  field.last[bucket] = last;
}
