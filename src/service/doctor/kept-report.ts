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
 * The values of a report in the order of `KEPT_FIELDS`. Most are never read, and a list is much cheaper than an object.
 */
export type KeptReport = readonly (string | number | undefined)[];

const KEPT_FIELDS: readonly StoredField[] = [...NUMBER_FIELDS, ...PROFILE_FIELDS, ...STATE_FIELDS];
/** Values before the fields: device and time. */
const HEAD = 2;

export function keepReport(batch: ReportBatch, row: number): KeptReport {
  const { numbers, texts } = batch;
  const kept: (string | number | undefined)[] = [texts[batch.device[row]!], batch.timestampMs[row]];
  for (let c = 0; c < NUMBER_FIELDS.length; c++) {
    const value = numbers[c]![row]!;
    kept.push(Number.isNaN(value) ? undefined : value);
  }
  pushTexts(kept, texts, batch.profiles, batch.profile[row]! * PROFILE_FIELDS.length, PROFILE_FIELDS.length);
  pushTexts(kept, texts, batch.states, batch.state[row]! * STATE_FIELDS.length, STATE_FIELDS.length);
  return kept;
}

function pushTexts(
  kept: (string | number | undefined)[],
  texts: readonly string[],
  tuples: Uint32Array,
  start: number,
  width: number,
): void {
  for (let m = start; m < start + width; m++) {
    const index = tuples[m]!;
    kept.push(index === NOT_CARRIED ? undefined : texts[index]);
  }
}

export function understoodReport(kept: KeptReport): UnderstoodReport {
  const [deviceId, timestampMs] = kept;
  const report: Record<string, string | number | boolean> = { device_id: deviceId!, timestamp: timestampMs! };
  for (const [index, { name, type }] of KEPT_FIELDS.entries()) {
    const value = kept[HEAD + index];
    if (value !== undefined) report[name] = type === "boolean" ? value === "true" : value;
  }
  return report;
}
