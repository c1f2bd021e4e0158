import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import type { RecordPage } from "../../../src/model/record-page.ts";

/** The records of a page as plain objects with the wire's names, without missing fields. */
export function recordsOf(page: RecordPage): Record<string, unknown>[] {
  return Array.from({ length: page.count }, (_, row) => {
    const record: Record<string, unknown> = {
      device_id: page.deviceIds[row],
      timestamp: page.timestampMs[row],
    };
    NUMBER_FIELDS.forEach(({ name }, field) => {
      const value = page.numbers[row * NUMBER_FIELDS.length + field]!;
      if (!Number.isNaN(value)) record[name] = value;
    });
    PROFILE_FIELDS.forEach(({ name }, member) => {
      const text = page.dictionary.profileText(page.profile[row]!, member);
      if (text !== null) record[name] = text;
    });
    STATE_FIELDS.forEach(({ name, type }, member) => {
      const text = page.dictionary.stateText(page.state[row]!, member);
      if (text !== null) record[name] = type === "boolean" ? text === "true" : text;
    });
    return record;
  });
}
