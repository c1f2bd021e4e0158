import type { CorrectionTarget } from "../../model/correction.ts";
import { ACCURACY, LATITUDE, LONGITUDE } from "../../model/fix.ts";
import { PROFILE_FIELDS, profileIndex } from "../../model/location-fields.ts";
import type { ReportBatch } from "../../model/report-batch.ts";

const USER = profileIndex("user_id");

/** Records in the form in which a correction shows them. Columns that stay are shared. */
export function applyTarget(batch: ReportBatch, target: CorrectionTarget): ReportBatch {
  const { deviceId, byMs, position, userId } = target;
  const texts = [...batch.texts, deviceId, ...(userId === null ? [] : [userId])];
  const user = texts.length - 1;
  return {
    ...batch,
    texts,
    device: new Uint32Array(batch.count).fill(batch.texts.length),
    timestampMs: batch.timestampMs.map((timeMs) => timeMs + byMs),
    numbers: position === null ? batch.numbers : movedTo(batch.numbers, position),
    profiles:
      userId === null
        ? batch.profiles
        : batch.profiles.map((text, at) => (at % PROFILE_FIELDS.length === USER ? user : text)),
  };
}

function movedTo(
  numbers: ReportBatch["numbers"],
  { latitude, longitude, accuracyMeters }: NonNullable<CorrectionTarget["position"]>,
): Float64Array[] {
  const values = new Map([
    [LATITUDE, latitude],
    [LONGITUDE, longitude],
    ...(accuracyMeters === null ? [] : [[ACCURACY, accuracyMeters] as const]),
  ]);
  return numbers.map((column, field) => {
    const value = values.get(field);
    return value === undefined ? column : new Float64Array(column.length).fill(value);
  });
}
