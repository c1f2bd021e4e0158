import { createInterner } from "../lib/interner.ts";
import { createTupleSet } from "../lib/tuple-set.ts";
import { PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import type { RecordDictionary } from "../model/record-page.ts";

/** Numbers for the profiles and states of archived records, as pages name them. */
export interface PageDictionary extends RecordDictionary {
  /** The number of a profile (state), given as the texts of its members; null members are not carried. */
  profileOf(texts: readonly (string | null)[]): number;
  stateOf(texts: readonly (string | null)[]): number;
  readonly isFull: boolean;
}

/** Tuples that a dictionary holds before it gives way to a new one: some megabytes. */
const TUPLES_MAX = 16_384;

const NOT_CARRIED = 0; // What interners leave free.

export function createPageDictionary(): PageDictionary {
  const texts = createInterner();
  const profiles = createTupleSet(PROFILE_FIELDS.length);
  const states = createTupleSet(STATE_FIELDS.length);
  let tuples = 0;

  function numberOf(set: typeof profiles, members: readonly (string | null)[]): number {
    const number = set.add(members.map((text) => (text === null ? NOT_CARRIED : texts.intern(text))));
    tuples = Math.max(tuples, number + 1);
    return number;
  }

  function textOf(set: typeof profiles, number: number, member: number): string | null {
    const text = set.at(number, member);
    return text === NOT_CARRIED ? null : texts.text(text);
  }

  return {
    profileOf: (members) => numberOf(profiles, members),
    stateOf: (members) => numberOf(states, members),
    profileText: (profile, member) => textOf(profiles, profile, member),
    stateText: (state, member) => textOf(states, state, member),
    get isFull() {
      return tuples >= TUPLES_MAX;
    },
  };
}
