import type { DeviceId } from "./ids.ts";
import { PROFILE_FIELDS, STATE_FIELDS } from "./location-fields.ts";

/**
 * Records in the order of an answer, in columns. Stores return pages and encoders write them. Numbers are row-major,
 * `NUMBER_FIELDS.length` a row; NaN if a record has no such field.
 */
export interface RecordPage {
  readonly count: number;
  readonly deviceIds: readonly DeviceId[];
  readonly timestampMs: Float64Array;
  readonly numbers: Float64Array;
  /** By row, the record's profile and state as numbers of `dictionary`. */
  readonly profile: Uint32Array;
  readonly state: Uint32Array;
  readonly dictionary: RecordDictionary;
}

/**
 * The texts of profile and state numbers. A number keeps its meaning while the dictionary is valid. The dictionary of
 * the memory store is valid only until the next report, so its pages are read in the same turn or copied with
 * `lastingPage`.
 */
export interface RecordDictionary {
  /** The text of a member (an index of `PROFILE_FIELDS`), or null if the record has no such field. */
  profileText(profile: number, member: number): string | null;
  /** The text of a member (an index of `STATE_FIELDS`), or null; booleans are the texts `true` and `false`. */
  stateText(state: number, member: number): string | null;
}

/** Gives a page its own dictionary with the texts that it uses, so that the page stays valid across turns. */
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
