import { PROFILE_FIELDS, STATE_FIELDS } from "./location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "./report-batch.ts";

/** Whole records of one app in columns, ordered by device (UTF-8 bytes) and time. */
export interface RecordColumns {
  readonly count: number;
  readonly deviceIds: readonly string[];
  readonly timestampMs: Float64Array;
  /** One column for each of `NUMBER_FIELDS`; NaN if a record has no such field. */
  readonly numbers: readonly Float64Array[];
  /** By row, a JSON array of the texts of `PROFILE_FIELDS`; null if the record has none. Booleans are texts. */
  readonly profiles: readonly string[];
  /** Like `profiles`, but for `STATE_FIELDS`. */
  readonly states: readonly string[];
}

/** The rows from `from` to before `to`; columns of numbers share their memory. */
export function sliceRecords(records: RecordColumns, from: number, to: number): RecordColumns {
  if (from === 0 && to === records.count) return records;
  return {
    count: to - from,
    deviceIds: records.deviceIds.slice(from, to),
    timestampMs: records.timestampMs.subarray(from, to),
    numbers: records.numbers.map((column) => column.subarray(from, to)),
    profiles: records.profiles.slice(from, to),
    states: records.states.slice(from, to),
  };
}

/** The records of a batch whose rows are whole records in that order. */
export function recordColumns(batch: ReportBatch): RecordColumns {
  const { count, texts, device, timestampMs, numbers } = batch;
  const profiles = tuplesJson(batch.profiles, PROFILE_FIELDS.length, texts);
  const states = tuplesJson(batch.states, STATE_FIELDS.length, texts);
  return {
    count,
    deviceIds: Array.from(device, (text) => texts[text]!),
    timestampMs,
    numbers,
    profiles: Array.from(batch.profile, (tuple) => profiles[tuple]!),
    states: Array.from(batch.state, (tuple) => states[tuple]!),
  };
}

function tuplesJson(tuples: Uint32Array, width: number, texts: readonly string[]): string[] {
  return Array.from({ length: tuples.length / width }, (_, tuple) => {
    const members = tuples.subarray(tuple * width, (tuple + 1) * width);
    return JSON.stringify(Array.from(members, (text) => (text === NOT_CARRIED ? null : texts[text]!)));
  });
}
