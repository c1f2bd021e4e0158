import { PROFILE_FIELDS, STATE_FIELDS } from "../../../../../src/model/location-fields.ts";
import type { ReportBatch } from "../../../../../src/model/report-batch.ts";

/** What each report of a batch says: device, time, numbers, then texts; undefined where it says nothing. */
export function rowsOf(batch: ReportBatch): unknown[][] {
  const { count, texts, device, timestampMs, numbers } = batch;
  const tuple = (tuples: Uint32Array, index: number, fields: number) =>
    [...tuples.subarray(index * fields, (index + 1) * fields)].map((text) =>
      text === 0 ? undefined : texts[text],
    );
  return Array.from({ length: count }, (_, row) => [
    texts[device[row]!],
    timestampMs[row],
    ...numbers.map((column) => column[row]),
    ...tuple(batch.profiles, batch.profile[row]!, PROFILE_FIELDS.length),
    ...tuple(batch.states, batch.state[row]!, STATE_FIELDS.length),
  ]);
}
