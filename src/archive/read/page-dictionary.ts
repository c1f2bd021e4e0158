import type { RecordDictionary } from "../../model/record-page.ts";

/**
 * Profiles and states of archived records, numbered. Statements hand each over as one JSON array of its members'
 * texts, null where a record has none: one text to copy out of DuckDB a record instead of nine, and only what is
 * new is parsed.
 */
export interface PageDictionary extends RecordDictionary {
  profileOf(json: string): number;
  stateOf(json: string): number;
  /** Whether a new dictionary should take its place: this one never forgets. */
  readonly isFull: boolean;
}

/**
 * About 8 MB of texts as they come in practice. Presenters keep a cache by dictionary, so few large ones are better
 * than one a page.
 */
const TUPLES_MAX = 16_384;
/** Where texts are as long as they may be. */
const CHARACTERS_MAX = 4_000_000;

export function createPageDictionary(): PageDictionary {
  const profiles = new TupleTexts();
  const states = new TupleTexts();
  return {
    profileOf: (json) => profiles.numberOf(json),
    stateOf: (json) => states.numberOf(json),
    profileText: (profile, member) => profiles.text(profile, member),
    stateText: (state, member) => states.text(state, member),
    get isFull() {
      return (
        profiles.size + states.size >= TUPLES_MAX || profiles.characters + states.characters >= CHARACTERS_MAX
      );
    },
  };
}

class TupleTexts {
  readonly #numbers = new Map<string, number>();
  /** Of all JSON texts. */
  characters = 0;
  readonly #tuples: (readonly (string | null)[])[] = [];

  numberOf(json: string): number {
    const known = this.#numbers.get(json);
    if (known !== undefined) return known;
    this.#tuples.push(JSON.parse(json) as (string | null)[]);
    this.characters += json.length;
    this.#numbers.set(json, this.#tuples.length - 1);
    return this.#tuples.length - 1;
  }

  text(number: number, member: number): string | null {
    return this.#tuples[number]![member]!;
  }

  get size(): number {
    return this.#tuples.length;
  }
}
