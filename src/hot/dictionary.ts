import { createInterner } from "../lib/interner.ts";
import { createTupleSet } from "../lib/tuple-set.ts";
import { ANONYMOUS } from "../model/ids.ts";
import { PROFILE_FIELDS, profileIndex, STATE_FIELDS } from "../model/location-fields.ts";
import type { RecordDictionary } from "../model/record-page.ts";
import { NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";

const USER = profileIndex("user_id");

/** Texts, profiles and states of all records in memory, each kept once. */
export interface Dictionary extends RecordDictionary {
  /** The number of a user's name, or 0 where no record ever carried it. */
  findUser(userId: string): number;
  /** The user of a profile, as `findUser` numbers them. */
  userOf(profile: number): number;
  userText(user: number): string;
  /** Translates a batch's distinct profiles and states; its rows then cost one look-up each. */
  translate(batch: ReportBatch): TranslatedTuples;
  /** What a stored profile (state) becomes when a report that carries another is laid over it. */
  mergeProfiles(stored: number, carried: number): number;
  mergeStates(stored: number, carried: number): number;
  /** The profile as a new record stores it: whoever carried no user is ANONYMOUS. */
  asStored(carriedProfile: number): number;
}

/** By the batch's own tuple numbers, the dictionary's, members that were not carried left at 0. */
export interface TranslatedTuples {
  readonly profiles: Uint32Array;
  readonly states: Uint32Array;
}

export function createDictionary(): Dictionary {
  const texts = createInterner();
  const profiles = createTupleSet(PROFILE_FIELDS.length);
  const states = createTupleSet(STATE_FIELDS.length);
  const anonymous = texts.intern(ANONYMOUS);
  const profileScratch = new Uint32Array(PROFILE_FIELDS.length);
  const stateScratch = new Uint32Array(STATE_FIELDS.length);

  function textAt(tuples: typeof profiles, index: number, member: number): string | null {
    const text = tuples.at(index, member);
    return text === NOT_CARRIED ? null : texts.text(text);
  }

  function merge(tuples: typeof profiles, scratch: Uint32Array, stored: number, carried: number): number {
    if (stored === carried) return stored;
    for (let m = 0; m < scratch.length; m++) {
      const member = tuples.at(carried, m);
      scratch[m] = member === NOT_CARRIED ? tuples.at(stored, m) : member;
    }
    return tuples.add(scratch);
  }

  return {
    profileText: (profile, member) => textAt(profiles, profile, member),
    stateText: (state, member) => textAt(states, state, member),
    findUser: (userId) => texts.find(userId),
    userOf: (profile) => profiles.at(profile, USER),
    userText: (user) => texts.text(user),
    translate(batch) {
      const known = new Uint32Array(batch.texts.length); // 0 is "not yet" for all but text 0, which stays 0.
      const translateTuples = (tuples: Uint32Array, scratch: Uint32Array, into: typeof profiles) => {
        const width = scratch.length;
        const numbers = new Uint32Array(tuples.length / width);
        for (let t = 0; t < numbers.length; t++) {
          for (let m = 0; m < width; m++) {
            const text = tuples[t * width + m]!;
            if (text !== NOT_CARRIED && known[text] === 0) known[text] = texts.intern(batch.texts[text]!);
            scratch[m] = known[text]!;
          }
          numbers[t] = into.add(scratch);
        }
        return numbers;
      };
      return {
        profiles: translateTuples(batch.profiles, profileScratch, profiles),
        states: translateTuples(batch.states, stateScratch, states),
      };
    },
    mergeProfiles: (stored, carried) => merge(profiles, profileScratch, stored, carried),
    mergeStates: (stored, carried) => merge(states, stateScratch, stored, carried),
    asStored(carriedProfile) {
      if (profiles.at(carriedProfile, USER) !== NOT_CARRIED) return carriedProfile;
      for (let m = 0; m < profileScratch.length; m++) profileScratch[m] = profiles.at(carriedProfile, m);
      profileScratch[USER] = anonymous;
      return profiles.add(profileScratch);
    },
  };
}
