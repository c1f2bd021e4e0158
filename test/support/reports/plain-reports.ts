import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../../../src/model/report-batch.ts";
import type { Report } from "./batches.ts";

/** The reports of a batch as plain objects, without missing fields. */
export function plainReports(batch: ReportBatch): Report[] {
  const { texts, device, timestampMs, numbers, profiles, profile, states, state } = batch;
  return Array.from({ length: batch.count }, (_, row) => {
    const report: Record<string, unknown> = {
      device_id: texts[device[row]!],
      timestamp: timestampMs[row],
    };
    NUMBER_FIELDS.forEach(({ name }, field) => {
      const value = numbers[field]![row]!;
      if (!Number.isNaN(value)) report[name] = value;
    });
    PROFILE_FIELDS.forEach(({ name }, member) => {
      const text = profiles[profile[row]! * PROFILE_FIELDS.length + member]!;
      if (text !== NOT_CARRIED) report[name] = texts[text];
    });
    STATE_FIELDS.forEach(({ name, type }, member) => {
      const text = states[state[row]! * STATE_FIELDS.length + member]!;
      if (text !== NOT_CARRIED) report[name] = type === "boolean" ? texts[text] === "true" : texts[text];
    });
    return report;
  });
}
