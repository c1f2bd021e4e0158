import type { AppDevices } from "../app-devices.ts";
import { timestampAt } from "../records/chunk.ts";

/** A device's records in one place of its app: those that are visible, or hidden, or show as another device's. */
export interface Place {
  readonly app: AppDevices;
  readonly device: number;
}

/** Rows that come or go in one step, in about a millisecond. */
export const STEP_ROWS = 1000;

/** Sorted instants in pieces, one for each step. */
export function* slicesOf(timestampMs: Float64Array): Iterable<Float64Array> {
  for (let from = 0; from < timestampMs.length; from += STEP_ROWS)
    yield timestampMs.subarray(from, from + STEP_ROWS);
}

/** The times of a place's records from one index to before another. */
export function timesOf({ app, device }: Place, from: number, to: number): Float64Array {
  const times = new Float64Array(to - from);
  let at = 0;
  app.table.columns.tracks.runs(device, from, to, (chunk, rowFrom, rowTo) => {
    for (let row = rowFrom; row < rowTo; row++) times[at++] = timestampAt(chunk, row);
  });
  return times;
}
