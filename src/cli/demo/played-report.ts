import { numberIndex } from "../../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatchBuilder } from "../../model/report-batch.ts";
import type { Position } from "./recording.ts";

/** How a recorded position is played. */
export interface Played {
  readonly deviceId: string;
  readonly timestampMs: number;
  /** So many times faster than it went. */
  readonly speed: number;
  /** Back the way it came. */
  readonly isReturning: boolean;
}

const SPEED = numberIndex("speed");
const BEARING = numberIndex("bearing");

/** Adds a recorded position as a report of another instant, with all else that was recorded of it. */
export function addPlayed(
  builder: ReportBatchBuilder,
  { batch, row }: Position,
  { deviceId, timestampMs, speed, isReturning }: Played,
): void {
  const { numbers, profile, state } = builder;
  builder.begin();
  for (let c = 0; c < numbers.length; c++) numbers[c] = batch.numbers[c]![row]!;
  numbers[SPEED]! *= speed;
  if (isReturning) numbers[BEARING] = (numbers[BEARING]! + 180) % 360;
  const copied = (text: number) => (text === NOT_CARRIED ? NOT_CARRIED : builder.text(batch.texts[text]!));
  for (let m = 0; m < profile.length; m++)
    profile[m] = copied(batch.profiles[batch.profile[row]! * profile.length + m]!);
  for (let m = 0; m < state.length; m++)
    state[m] = copied(batch.states[batch.state[row]! * state.length + m]!);
  builder.add(builder.text(deviceId), timestampMs);
}
