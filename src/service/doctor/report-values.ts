import {
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  STATE_FIELDS,
  type StoredField,
} from "../../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";

/** A report by its fields' names. */
export type UnderstoodReport = Readonly<Record<string, string | number | boolean>>;

/**
 * The values of a report in the order of `VALUE_FIELDS`: most are never read, and a list is cheaper than an object.
 */
export type ReportValues = readonly (string | number | undefined)[];

const VALUE_FIELDS: readonly StoredField[] = [...NUMBER_FIELDS, ...PROFILE_FIELDS, ...STATE_FIELDS];
/** Values before the fields: device and time. */
const HEAD = 2;

export function valuesOfReport(batch: ReportBatch, row: number): ReportValues {
  const { numbers, texts } = batch;
  const values: (string | number | undefined)[] = [texts[batch.device[row]!], batch.timestampMs[row]];
  for (let c = 0; c < NUMBER_FIELDS.length; c++) {
    const value = numbers[c]![row]!;
    values.push(Number.isNaN(value) ? undefined : value);
  }
  pushTexts(
    values,
    texts,
    batch.profiles,
    batch.profile[row]! * PROFILE_FIELDS.length,
    PROFILE_FIELDS.length,
  );
  pushTexts(values, texts, batch.states, batch.state[row]! * STATE_FIELDS.length, STATE_FIELDS.length);
  return values;
}

function pushTexts(
  values: (string | number | undefined)[],
  texts: readonly string[],
  tuples: Uint32Array,
  start: number,
  width: number,
): void {
  for (let m = start; m < start + width; m++) {
    const index = tuples[m]!;
    values.push(index === NOT_CARRIED ? undefined : texts[index]);
  }
}

export function understoodReport(values: ReportValues): UnderstoodReport {
  const [deviceId, timestampMs] = values;
  const report: Record<string, string | number | boolean> = { device_id: deviceId!, timestamp: timestampMs! };
  for (const [index, { name, type }] of VALUE_FIELDS.entries()) {
    const value = values[HEAD + index];
    if (value !== undefined) report[name] = type === "boolean" ? value === "true" : value;
  }
  return report;
}
