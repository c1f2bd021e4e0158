import type { DeviceId } from "./ids.ts";

/**
 * Records in the order of an answer, in columns: what stores hand up and presenters write down. Numbers are
 * row-major, `NUMBER_FIELDS.length` a row, NaN where a record has no such field.
 */
export interface RecordPage {
  readonly count: number;
  readonly deviceIds: readonly DeviceId[];
  readonly timestampMs: Float64Array;
  readonly numbers: Float64Array;
  /** By row, the record's profile and state, to be looked up in `dictionary`. */
  readonly profile: Uint32Array;
  readonly state: Uint32Array;
  readonly dictionary: RecordDictionary;
}

/**
 * The texts behind profile and state numbers. A number keeps its meaning for the life of the dictionary; that of memory
 * ends with any report, so a page of it is read in the turn it was made in, or made lasting.
 */
export interface RecordDictionary {
  /** The text of a member (an index of `PROFILE_FIELDS`), or null where the record has no such field. */
  profileText(profile: number, member: number): string | null;
  /** The same for `STATE_FIELDS`; booleans are the texts `true` and `false`. */
  stateText(state: number, member: number): string | null;
}
