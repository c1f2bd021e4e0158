import type { DeviceId } from "./ids.ts";
import { PROFILE_FIELDS, STATE_FIELDS } from "./location-fields.ts";

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
  /** The text of a member (an index of `PROFILE_FIELDS`), or null if the record has no such field. */
  profileText(profile: number, member: number): string | null;
  /** The text of a member (an index of `STATE_FIELDS`), or null; booleans are the texts `true` and `false`. */
  stateText(state: number, member: number): string | null;
}

/** Gives a page its own dictionary of the texts that it uses, for an answer that has to wait for the rest of it. */
export function lastingPage(page: RecordPage): RecordPage {
  const { count, dictionary } = page;
  const profiles = new Map<number, readonly (string | null)[]>();
  const states = new Map<number, readonly (string | null)[]>();
  for (let row = 0; row < count; row++) {
    const [profile, state] = [page.profile[row]!, page.state[row]!];
    if (!profiles.has(profile)) {
      profiles.set(
        profile,
        PROFILE_FIELDS.map((_, member) => dictionary.profileText(profile, member)),
      );
    }
    if (!states.has(state)) {
      states.set(
        state,
        STATE_FIELDS.map((_, member) => dictionary.stateText(state, member)),
      );
    }
  }
  return {
    ...page,
    dictionary: {
      profileText: (profile, member) => profiles.get(profile)![member]!,
      stateText: (state, member) => states.get(state)![member]!,
    },
  };
}
