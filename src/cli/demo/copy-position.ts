import { NOT_CARRIED, type ReportBatchBuilder } from "../../model/report-batch.ts";
import type { Position } from "./recording.ts";

/** Begins a report with all values of a recorded position; the caller changes some, and adds it. */
export function copyPosition(builder: ReportBatchBuilder, { batch, row }: Position): void {
  const { numbers, profile, state } = builder;
  builder.begin();
  for (let c = 0; c < numbers.length; c++) numbers[c] = batch.numbers[c]![row]!;
  const copied = (text: number) => (text === NOT_CARRIED ? NOT_CARRIED : builder.text(batch.texts[text]!));
  for (let m = 0; m < profile.length; m++)
    profile[m] = copied(batch.profiles[batch.profile[row]! * profile.length + m]!);
  for (let m = 0; m < state.length; m++)
    state[m] = copied(batch.states[batch.state[row]! * state.length + m]!);
}
