import { assert } from "../../lib/assert.ts";
import { type LaidFix, MOCK } from "../../model/fix.ts";
import { ANONYMOUS } from "../../model/ids.ts";
import { PROFILE_FIELDS, profileIndex, STATE_FIELDS } from "../../model/location-fields.ts";
import type { RecordDictionary } from "../../model/record-page.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";
import { CountedTexts } from "./counted-texts.ts";
import { TextTuples, TupleTranslation } from "./text-tuples.ts";

const USER = profileIndex("user_id");

/** Translates a batch's numbers of profiles and states to the dictionary's. Members that were not carried are 0. */
export interface BatchTuples {
  readonly profiles: TupleTranslation;
  readonly states: TupleTranslation;
}

/**
 * How many numbers of removed profiles and states stay unused before all are used again, some 3 MB. Presenters cache
 * encoded texts by number, and each new edition makes them start over.
 */
const RETIRED_MAX = 65_536;

const NO_PROFILE = -1;
const NO_MEMBER = -1;

/**
 * Texts, profiles and states of all records in memory, each stored once with a reference count. Code that writes a
 * profile and a state into a row retains them; code that removes them from a row releases them. What has no references
 * goes with the next `collect()`, so within one step of work every number keeps its meaning.
 */
export class Dictionary {
  readonly #retiredMax: number;
  readonly #texts = new CountedTexts();
  readonly #profiles = new TextTuples(PROFILE_FIELDS.length, this.#texts);
  readonly #states = new TextTuples(STATE_FIELDS.length, this.#texts);
  readonly #anonymous: number;
  #edition: RecordDictionary;
  /** The last argument and result of `asStored()`; neighbours are often alike. */
  #storedOf = NO_PROFILE;
  #stored = NO_PROFILE;

  constructor(retiredMax = RETIRED_MAX) {
    this.#retiredMax = retiredMax;
    this.#anonymous = this.#texts.intern(ANONYMOUS);
    this.#texts.retain(this.#anonymous); // It stays even if no record refers to it.
    this.#edition = this.#createEdition();
  }

  /** What the numbers mean. Another edition replaces it once any number may mean something else. */
  get edition(): RecordDictionary {
    return this.#edition;
  }

  get sizes(): { readonly texts: number; readonly profiles: number; readonly states: number } {
    return {
      texts: this.#texts.size,
      profiles: this.#profiles.counted.size,
      states: this.#states.counted.size,
    };
  }

  /** The number of a user's name, or 0 if no record in memory has it. */
  findUser(userId: string): number {
    return this.#texts.find(userId);
  }

  /** A hash of the name of a user who has a record; it differs between processes. */
  userHash(user: number): number {
    return this.#texts.hash(user);
  }

  /** The user of a profile, as numbered by `findUser()`. */
  userOf(profile: number): number {
    return this.#profiles.counted.at(profile, USER);
  }

  /** The user that answers show for a profile. */
  shownUserOf(profile: number): number {
    const user = this.userOf(profile);
    return user === NOT_CARRIED ? this.#anonymous : user;
  }

  /** Each tuple is looked up when it is first needed. */
  translate({ texts, profiles, states }: ReportBatch): BatchTuples {
    const known = new Uint32Array(texts.length);
    return {
      profiles: new TupleTranslation(this.#profiles, texts, profiles, known),
      states: new TupleTranslation(this.#states, texts, states, known),
    };
  }

  /** The profile of a record after a report with another profile is merged into it. */
  mergeProfiles(stored: number, carried: number): number {
    return this.#profiles.merge(stored, carried);
  }

  /** The profile with another user. */
  withUser(profile: number, userId: string): number {
    const user = this.#texts.intern(userId); // The profile retains it.
    return this.userOf(profile) === user ? profile : this.#profiles.withMember(profile, USER, user);
  }

  /** The state of a record after a report with another state is merged into it. `is_mock` goes with the fix. */
  mergeStates(stored: number, carried: number, laid: LaidFix): number {
    const merged = this.#states.merge(stored, carried);
    if (laid === "merged" || stored === carried) return merged;
    const mock = this.#states.counted.at(laid === "replaced" ? carried : stored, MOCK);
    return this.#states.counted.at(merged, MOCK) === mock
      ? merged
      : this.#states.withMember(merged, MOCK, mock);
  }

  /** Whether a state marks the fix as mock: 1 or 0; NaN if it has no such field. */
  mockOf(state: number): number {
    const text = this.#states.textAt(state, MOCK);
    if (text === null) return Number.NaN;
    return text === "true" ? 1 : 0;
  }

  /** The profile as a new record stores it: a report without a user belongs to ANONYMOUS. */
  asStored(carriedProfile: number): number {
    if (this.userOf(carriedProfile) !== NOT_CARRIED) return carriedProfile;
    if (carriedProfile !== this.#storedOf) {
      this.#storedOf = carriedProfile;
      this.#stored = this.#profiles.withMember(carriedProfile, USER, this.#anonymous);
    }
    return this.#stored;
  }

  /**
   * Whether a row of the batch carries a text that a record of this profile and state lacks or has with another value.
   * Texts that describe the fix don't count if the record keeps its own fix.
   */
  carriesOtherTexts(batch: ReportBatch, row: number, profile: number, state: number, laid: LaidFix): boolean {
    const ignored = laid === "kept" ? MOCK : NO_MEMBER;
    return (
      this.#profiles.carriesOther(batch, batch.profiles, batch.profile[row]!, profile, NO_MEMBER) ||
      this.#states.carriesOther(batch, batch.states, batch.state[row]!, state, ignored)
    );
  }

  retain(profile: number, state: number): void {
    this.#profiles.counted.retain(profile);
    this.#states.counted.retain(state);
  }

  release(profile: number, state: number): void {
    this.#profiles.counted.release(profile);
    this.#states.counted.release(state);
  }

  /** Removes what has no references. Call last, after any work that translates, merges or releases. */
  collect(): void {
    this.#storedOf = NO_PROFILE;
    this.#profiles.collect();
    this.#states.collect();
    const [profiles, states] = [this.#profiles.counted, this.#states.counted];
    if (profiles.retiredCount + states.retiredCount < this.#retiredMax) return;
    profiles.reuse();
    states.reuse();
    this.#edition = this.#createEdition();
  }

  #createEdition(): RecordDictionary {
    const textAt = (tuples: TextTuples, tuple: number, member: number) => {
      assert(created === this.#edition, "an edition is read only while it is current");
      return tuples.textAt(tuple, member);
    };
    const created: RecordDictionary = {
      profileText: (profile, member) => textAt(this.#profiles, profile, member),
      stateText: (state, member) => textAt(this.#states, state, member),
    };
    return created;
  }
}
