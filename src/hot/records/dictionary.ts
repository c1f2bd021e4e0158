import { assert } from "../../lib/assert.ts";
import { ANONYMOUS } from "../../model/ids.ts";
import { PROFILE_FIELDS, profileIndex, STATE_FIELDS } from "../../model/location-fields.ts";
import type { RecordDictionary } from "../../model/record-page.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";
import { CountedTexts } from "./counted-texts.ts";
import { CountedTuples } from "./counted-tuples.ts";

const USER = profileIndex("user_id");

/**
 * Texts, profiles and states of all records in memory, each kept once, and only as long as a record names it: whoever
 * writes a profile and a state into a row retains them, whoever takes them out releases them. What nobody names goes
 * with the next `collect`, so that within one step of work every number that was handed out stays what it is.
 */
export interface Dictionary {
  /** Says what numbers mean, until they mean something else: then another edition takes its place. */
  readonly edition: RecordDictionary;
  /** What is kept now. */
  readonly sizes: { readonly texts: number; readonly profiles: number; readonly states: number };
  /** The number of a user's name, or 0 where no record in memory carries it. */
  findUser(userId: string): number;
  /** The user of a profile, as `findUser` numbers them. */
  userOf(profile: number): number;
  /** Translates a batch's distinct profiles and states; its rows then cost one look-up each. */
  translate(batch: ReportBatch): TranslatedTuples;
  /** What a stored profile (state) becomes when a report that carries another is laid over it. */
  mergeProfiles(stored: number, carried: number): number;
  mergeStates(stored: number, carried: number): number;
  /** The profile as a new record stores it: whoever carried no user is ANONYMOUS. */
  asStored(carriedProfile: number): number;
  /** Whether a row of the batch carries a text that a record of this profile and state has not, or has otherwise. */
  carriesOtherTexts(batch: ReportBatch, row: number, profile: number, state: number): boolean;
  /** One row more names this profile and this state. */
  retain(profile: number, state: number): void;
  /** One row fewer names them. */
  release(profile: number, state: number): void;
  /** Forgets what nobody names: the last act of whatever translated, merged or released. */
  collect(): void;
}

/** By the batch's own tuple numbers, the dictionary's, members that were not carried left at 0. */
export interface TranslatedTuples {
  readonly profiles: Uint32Array;
  readonly states: Uint32Array;
}

/**
 * So many numbers of profiles and states that are gone lie idle before they are given again, some 3 MB: presenters
 * keep encoded texts by number, which each new edition has them do anew.
 */
const RETIRED_MAX = 65_536;

export function createDictionary(retiredMax = RETIRED_MAX): Dictionary {
  const texts = new CountedTexts();
  const profiles = new CountedTuples(PROFILE_FIELDS.length);
  const states = new CountedTuples(STATE_FIELDS.length);
  const anonymous = texts.intern(ANONYMOUS);
  texts.retain(anonymous); // Whether or not a record names it.
  const profileScratch = new Uint32Array(PROFILE_FIELDS.length);
  const stateScratch = new Uint32Array(STATE_FIELDS.length);
  let edition = createEdition();
  /** The profile that was last asked for as it is stored; neighbours are often alike. */
  let storedOf = NONE;
  let stored = NONE;

  function createEdition(): RecordDictionary {
    const created: RecordDictionary = {
      profileText(profile, member) {
        assert(created === edition, "a page of memory is read before its numbers mean something else");
        return textAt(profiles, profile, member);
      },
      stateText(state, member) {
        assert(created === edition, "a page of memory is read before its numbers mean something else");
        return textAt(states, state, member);
      },
    };
    return created;
  }

  function textAt(tuples: CountedTuples, tuple: number, member: number): string | null {
    const text = tuples.at(tuple, member);
    return text === NOT_CARRIED ? null : texts.text(text);
  }

  function retainTexts(members: Uint32Array): void {
    for (const text of members) if (text !== NOT_CARRIED) texts.retain(text);
  }

  function releaseTexts(members: Uint32Array): void {
    for (const text of members) if (text !== NOT_CARRIED) texts.release(text);
  }

  function merge(tuples: CountedTuples, scratch: Uint32Array, stored: number, carried: number): number {
    if (stored === carried) return stored;
    tuples.read(stored, scratch);
    for (let m = 0; m < scratch.length; m++) {
      const member = tuples.at(carried, m);
      if (member !== NOT_CARRIED) scratch[m] = member;
    }
    return tuples.add(scratch, retainTexts);
  }

  /** Whether one of the batch's tuples has a member that `kept` has not. */
  function hasOther(
    batch: ReportBatch,
    from: Uint32Array,
    tuple: number,
    tuples: CountedTuples,
    kept: number,
  ) {
    const width = tuples.width;
    for (let m = 0; m < width; m++) {
      const text = from[tuple * width + m]!;
      if (text !== NOT_CARRIED && batch.texts[text] !== textAt(tuples, kept, m)) return true;
    }
    return false;
  }

  return {
    get edition() {
      return edition;
    },
    get sizes() {
      return { texts: texts.size, profiles: profiles.size, states: states.size };
    },
    findUser: (userId) => texts.find(userId),
    userOf: (profile) => profiles.at(profile, USER),
    translate(batch) {
      const known = new Uint32Array(batch.texts.length); // 0 is "not yet" for all but text 0, which stays 0.
      const translateTuples = (from: Uint32Array, scratch: Uint32Array, into: CountedTuples) => {
        const width = scratch.length;
        const numbers = new Uint32Array(from.length / width);
        for (let t = 0; t < numbers.length; t++) {
          for (let m = 0; m < width; m++) {
            const text = from[t * width + m]!;
            if (text !== NOT_CARRIED && known[text] === 0) known[text] = texts.intern(batch.texts[text]!);
            scratch[m] = known[text]!;
          }
          numbers[t] = into.add(scratch, retainTexts);
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
      if (carriedProfile !== storedOf) {
        profiles.read(carriedProfile, profileScratch);
        profileScratch[USER] = anonymous;
        storedOf = carriedProfile;
        stored = profiles.add(profileScratch, retainTexts);
      }
      return stored;
    },
    carriesOtherTexts: (batch, row, profile, state) =>
      hasOther(batch, batch.profiles, batch.profile[row]!, profiles, profile) ||
      hasOther(batch, batch.states, batch.state[row]!, states, state),
    retain(profile, state) {
      profiles.retain(profile);
      states.retain(state);
    },
    release(profile, state) {
      profiles.release(profile);
      states.release(state);
    },
    collect() {
      storedOf = NONE;
      profiles.collect(releaseTexts);
      states.collect(releaseTexts);
      if (profiles.retiredCount + states.retiredCount < retiredMax) return;
      profiles.reuse();
      states.reuse();
      edition = createEdition();
    },
  };
}

/** No profile's number. */
const NONE = -1;
