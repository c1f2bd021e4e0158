import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { createReportBatchBuilder, NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";
import { type UtcDay, utcDayOf } from "../time/utc-day.ts";

/** The batch without the reports of some days, and without every text that only those name. */
export function withoutDays(batch: ReportBatch, days: ReadonlySet<UtcDay>): ReportBatch {
  const rows = Array.from({ length: batch.count }, (_, row) => row);
  const kept = rows.filter((row) => !days.has(utcDayOf(batch.timestampMs[row]!)));
  if (kept.length === batch.count) return batch;
  const { texts, device, timestampMs, numbers, profiles, profile, states, state } = batch;
  const builder = createReportBatchBuilder(kept.length);
  const moved = (text: number) => (text === NOT_CARRIED ? NOT_CARRIED : builder.text(texts[text]!));
  for (const row of kept) {
    builder.begin();
    for (let c = 0; c < NUMBER_FIELDS.length; c++) builder.numbers[c] = numbers[c]![row]!;
    const profileAt = profile[row]! * PROFILE_FIELDS.length;
    for (let m = 0; m < PROFILE_FIELDS.length; m++) builder.profile[m] = moved(profiles[profileAt + m]!);
    const stateAt = state[row]! * STATE_FIELDS.length;
    for (let m = 0; m < STATE_FIELDS.length; m++) builder.state[m] = moved(states[stateAt + m]!);
    builder.add(builder.text(texts[device[row]!]!), timestampMs[row]!);
  }
  return builder.build();
}
