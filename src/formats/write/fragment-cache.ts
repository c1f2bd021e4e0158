import { createFragment, type Fragment } from "../../lib/text/json-writer.ts";

/** Some 5 MB of typical profiles or states. */
const FRAGMENTS_MAX = 16_384;
/** Bounds the memory if texts have their maximum length. */
const CHARACTERS_MAX = 8_000_000;

/** Caches the encoded form of texts that many records share, such as a device or a profile. */
export class FragmentCache {
  readonly #textOf: (key: string) => string;
  readonly #fragments = new Map<string, Fragment>();
  #characters = 0;
  #lastKey: string | null = null;
  #last = createFragment("");

  /** `textOf` returns the text for a key. */
  constructor(textOf: (key: string) => string) {
    this.#textOf = textOf;
  }

  /** Neighbours often have the same key, which needs no lookup. */
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
