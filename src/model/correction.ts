import type { DeviceId } from "./ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "./location-fields.ts";
import { addReport } from "./report.ts";
import { createReportBatchBuilder, NOT_CARRIED, type ReportBatch } from "./report-batch.ts";

/** A change of what answers show. What was reported stays as it is, so each correction can be undone. */
export interface Correction {
  readonly id: string;
  readonly action: CorrectionAction;
  readonly deviceId: DeviceId;
  /** The members of the request that chose the records, less a list of timestamps. */
  readonly selection: Readonly<Record<string, unknown>>;
  readonly note: string | null;
  readonly createdMs: number;
  /** The id of the key. */
  readonly createdBy: string;
  /** The request's own key and the hash of its body, to recognise a repetition; null if it has none. */
  readonly repetition: { readonly key: string; readonly hash: string } | null;
  /** How answers show the records; null if they don't. */
  readonly target: CorrectionTarget | null;
  /** Whether it is about all that the device reports, before and after it. The counts are those when it was made. */
  readonly isOfDevice?: boolean;
  /** How many records it touches, and the times of the first and the last. */
  readonly records: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The form in which answers show the records of a correction. */
export interface CorrectionTarget {
  /** The device that has them. */
  readonly deviceId: DeviceId;
  /** What is added to their times. */
  readonly byMs: number;
  /** Null leaves the position as it is; an accuracy of null leaves the accuracy. */
  readonly position: {
    readonly latitude: number;
    readonly longitude: number;
    readonly accuracyMeters: number | null;
  } | null;
  /** Null leaves the user as it is. */
  readonly userId: string | null;
}

/**
 * `hide`: the records are in no answer. `move`: one has another position. `shift_time`: they have other times.
 * `assign`: they are another device's, or another user's.
 */
export const CORRECTION_ACTIONS = ["hide", "move", "shift_time", "assign"] as const;
export type CorrectionAction = (typeof CORRECTION_ACTIONS)[number];

export const CORRECTION_RECORDS_MAX = 100_000;
/** An app has this many records that active corrections touch, and this many active corrections, at most. */
export const CORRECTED_RECORDS_MAX = 1_000_000;
export const ACTIVE_CORRECTIONS_MAX = 10_000;
/** This many active corrections lie upon one another, at most: a report of a record is merged into what each shows. */
export const CORRECTIONS_DEEP_MAX = 32;
/** This many devices show as one, that one included, at most: a report of one looks for a record of each. */
export const ALIASES_OF_DEVICE_MAX = 32;
/** Undone corrections that an app's list has; older ones are forgotten. */
export const UNDONE_CORRECTIONS_MAX = 10_000;
export const CORRECTION_NOTE_CHARACTERS_MAX = 500;

/** A record as members of JSON, as a report would carry them. */
export type RecordMembers = Readonly<Record<string, unknown>>;

/** Marks a record that the device reported itself, where it could be one of a device that shows as it. */
export function asOwn(record: RecordMembers): RecordMembers {
  return { ...record, is_own: true };
}

/** Whether the record has this mark. Without it, it may be the device's own all the same. */
export function isOwn(record: RecordMembers): boolean {
  return record.is_own === true;
}

/** A row of a batch as members of JSON, without its device. */
export function membersOf(batch: ReportBatch, row: number): RecordMembers {
  const { texts, numbers, profiles, profile, states, state } = batch;
  const members: Record<string, unknown> = { timestamp: batch.timestampMs[row]! };
  NUMBER_FIELDS.forEach(({ name }, field) => {
    const value = numbers[field]![row]!;
    if (!Number.isNaN(value)) members[name] = value;
  });
  for (const [fields, tuples, tuple] of [
    [PROFILE_FIELDS, profiles, profile],
    [STATE_FIELDS, states, state],
  ] as const) {
    fields.forEach(({ name, type }, member) => {
      const text = tuples[tuple[row]! * fields.length + member]!;
      if (text === NOT_CARRIED) return;
      members[name] = type === "boolean" ? texts[text] === "true" : texts[text]!;
    });
  }
  return members;
}

const ANY_TIME = { oldestMs: Number.NEGATIVE_INFINITY, newestMs: Number.POSITIVE_INFINITY };

/** The report that a record could have come from, as a batch of one row; null if the members are not valid. */
export function batchOfMembers(deviceId: DeviceId, members: RecordMembers): ReportBatch | null {
  const builder = createReportBatchBuilder(1);
  const fault = addReport({ ...members, device_id: deviceId }, ANY_TIME, builder);
  return fault === null ? builder.build() : null;
}
