import type { ReportBatch } from "../../../src/model/report-batch.ts";

/** What each report of a batch says: device, time, numbers, then texts; undefined where it says nothing. */
export function rowsOf(batch: ReportBatch): unknown[][] {
  const { count, texts, device, timestampMs, numbers } = batch;
  const profileFields = fieldsOf(batch.profiles, batch.profile);
  const stateFields = fieldsOf(batch.states, batch.state);
  const tuple = (tuples: Uint32Array, index: number, fields: number) =>
    [...tuples.subarray(index * fields, (index + 1) * fields)].map((text) =>
      text === 0 ? undefined : texts[text],
    );
  return Array.from({ length: count }, (_, row) => [
    texts[device[row]!],
    timestampMs[row],
    ...numbers.map((column) => column[row]),
    ...tuple(batch.profiles, batch.profile[row]!, profileFields),
    ...tuple(batch.states, batch.state[row]!, stateFields),
  ]);
}

function fieldsOf(tuples: Uint32Array, byRow: Uint32Array): number {
  const distinct = byRow.reduce((most, index) => Math.max(most, index + 1), 0);
  return distinct === 0 ? 0 : tuples.length / distinct;
}
