import { assert } from "../../lib/assert.ts";
import { type LaidFix, MOCK } from "../../model/fix.ts";
import { ANONYMOUS } from "../../model/ids.ts";
import { PROFILE_FIELDS, profileIndex, STATE_FIELDS } from "../../model/location-fields.ts";
import type { RecordDictionary } from "../../model/record-page.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";
import { CountedTexts } from "./counted-texts.ts";
import { TextTuples, TupleTranslation } from "./text-tuples.ts";

/** What the numbers mean that records have in place of texts. */

const USER = profileIndex("user_id");

/** A batch's profiles and states in the dictionary's numbers, by the batch's; members that were not carried are 0. */
export interface BatchTuples {
  readonly profiles: TupleTranslation;
  readonly states: TupleTranslation;
}

/**
 * So many numbers of profiles and states that are gone lie idle before they are given again, some 3 MB: presenters
 * keep encoded texts by number, which each new edition has them do anew.
 */
const RETIRED_MAX = 65_536;

/** No profile's number. */
const NO_PROFILE = -1;
/** No member's index. */
const NO_MEMBER = -1;

/**
 * Texts, profiles and states of all records in memory, each kept once, and only as long as a record names it: whoever
 * writes a profile and a state into a row retains them, whoever takes them out releases them. What nobody names goes
 * with the next `collect`, so that within one step of work every number that was handed out stays what it is.
 */
export class Dictionary {
  readonly #retiredMax: number;
  readonly #texts = new CountedTexts();
  readonly #profiles = new TextTuples(PROFILE_FIELDS.length, this.#texts);
  readonly #states = new TextTuples(STATE_FIELDS.length, this.#texts);
  readonly #anonymous: number;
  #edition: RecordDictionary;
  /** The profile that was last asked for as it is stored; neighbours are often alike. */
  #storedOf = NO_PROFILE;
  #stored = NO_PROFILE;

  constructor(retiredMax = RETIRED_MAX) {
    this.#retiredMax = retiredMax;
    this.#anonymous = this.#texts.intern(ANONYMOUS);
    this.#texts.retain(this.#anonymous); // Whether or not a record names it.
    this.#edition = this.#createEdition();
  }

  /** Says what numbers mean, until they mean something else: then another edition takes its place. */
  get edition(): RecordDictionary {
    return this.#edition;
  }

  /** What is kept now. */
  get sizes(): { readonly texts: number; readonly profiles: number; readonly states: number } {
    return {
      texts: this.#texts.size,
      profiles: this.#profiles.counted.size,
      states: this.#states.counted.size,
    };
  }

  /** The number of a user's name, or 0 where no record in memory carries it. */
  findUser(userId: string): number {
    return this.#texts.find(userId);
  }

  /** A hash of the name of a user who has any record; another one with each process. */
  userHash(user: number): number {
    return this.#texts.hash(user);
  }

  /** The user of a profile, as `findUser` numbers them. */
  userOf(profile: number): number {
    return this.#profiles.counted.at(profile, USER);
  }

  /** Each is looked for when it is first asked for. */
  translate({ texts, profiles, states }: ReportBatch): BatchTuples {
    const known = new Uint32Array(texts.length);
    return {
      profiles: new TupleTranslation(this.#profiles, texts, profiles, known),
      states: new TupleTranslation(this.#states, texts, states, known),
    };
  }

  /** What a stored profile becomes when a report that carries another is laid over it. */
  mergeProfiles(stored: number, carried: number): number {
    return this.#profiles.merge(stored, carried);
  }

  /** Lays a carried state over a stored one. The part that describes the fix goes with the fix. */
  mergeStates(stored: number, carried: number, laid: LaidFix): number {
    const merged = this.#states.merge(stored, carried);
    if (laid === "merged" || stored === carried) return merged;
    const mock = this.#states.counted.at(laid === "replaced" ? carried : stored, MOCK);
    return this.#states.counted.at(merged, MOCK) === mock
      ? merged
      : this.#states.withMember(merged, MOCK, mock);
  }

  /** Whether a state says that the fix is mock: 1 or 0; NaN if it does not say. */
  mockOf(state: number): number {
    const text = this.#states.textAt(state, MOCK);
    if (text === null) return Number.NaN;
    return text === "true" ? 1 : 0;
  }

  /** The profile as a new record stores it: whoever carried no user is ANONYMOUS. */
  asStored(carriedProfile: number): number {
    if (this.userOf(carriedProfile) !== NOT_CARRIED) return carriedProfile;
    if (carriedProfile !== this.#storedOf) {
      this.#storedOf = carriedProfile;
      this.#stored = this.#profiles.withMember(carriedProfile, USER, this.#anonymous);
    }
    return this.#stored;
  }

  /**
   * Whether a row of the batch carries a text that a record of this profile and state has not, or has otherwise, and
   * that is not of a fix which the record keeps.
   */
  carriesOtherTexts(batch: ReportBatch, row: number, profile: number, state: number, laid: LaidFix): boolean {
    const kept = laid === "kept" ? MOCK : NO_MEMBER;
    return (
      this.#profiles.carriesOther(batch, batch.profiles, batch.profile[row]!, profile, NO_MEMBER) ||
      this.#states.carriesOther(batch, batch.states, batch.state[row]!, state, kept)
    );
  }

  /** One row more names this profile and this state. */
  retain(profile: number, state: number): void {
    this.#profiles.counted.retain(profile);
    this.#states.counted.retain(state);
  }

  /** One row fewer names them. */
  release(profile: number, state: number): void {
    this.#profiles.counted.release(profile);
    this.#states.counted.release(state);
  }

  /** Forgets what nobody names: the last act of whatever translated, merged or released. */
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
      assert(created === this.#edition, "a page of memory is read before its numbers mean something else");
      return tuples.textAt(tuple, member);
    };
    const created: RecordDictionary = {
      profileText: (profile, member) => textAt(this.#profiles, profile, member),
      stateText: (state, member) => textAt(this.#states, state, member),
    };
    return created;
  }
}
