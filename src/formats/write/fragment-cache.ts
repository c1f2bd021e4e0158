import { createFragment, type Fragment } from "../../lib/text/json-writer.ts";

/** Some 5 MB of profiles or states as they come in practice. */
const FRAGMENTS_MAX = 16_384;
/** Of texts, so that those of the greatest length don't add up. */
const CHARACTERS_MAX = 8_000_000;

/** What is made of a text that many records share, such as a device or a profile: made once, copied from then on. */
export class FragmentCache {
  readonly #textOf: (key: string) => string;
  readonly #fragments = new Map<string, Fragment>();
  #characters = 0;
  #lastKey: string | null = null;
  #last = createFragment("");

  /** `textOf` says what is written for a key. */
  constructor(textOf: (key: string) => string) {
    this.#textOf = textOf;
  }

  /** Neighbours often share theirs, which is found without a look at the table. */
  of(key: string): Fragment {
    if (key !== this.#lastKey) {
      this.#last = this.#fragments.get(key) ?? this.#add(key);
      this.#lastKey = key;
    }
    return this.#last;
  }

  #add(key: string): Fragment {
    const text = this.#textOf(key);
    const characters = key.length + text.length;
    if (this.#fragments.size === FRAGMENTS_MAX || this.#characters + characters > CHARACTERS_MAX) {
      this.#fragments.clear();
      this.#characters = 0;
    }
    const fragment = createFragment(text);
    this.#fragments.set(key, fragment);
    this.#characters += characters;
    return fragment;
  }
}
