/** The body of a message, as far as its first byte says what it is. `Content-Type` is a hint that clients get wrong. */
export type Content =
  | { readonly kind: "empty" }
  /**
   * Begins with a brace or a bracket and is JSON. Lists of a long body are `LongList`s, long texts in it (a photo)
   * `LongText`s, and other long values empty ones of their kind.
   */
  | { readonly kind: "json"; readonly value: unknown }
  /** Anything else: form encoding mostly, or the CSV of small trackers. At most 64 KiB. */
  | { readonly kind: "text"; readonly text: string }
  /** Neither JSON nor text of a length that a client sends. */
  | { readonly kind: "unreadable" };

/** A list that is too long to be parsed in one piece: each element is parsed when it is asked for. */
export class LongList implements Iterable<unknown> {
  readonly length: number;
  readonly #elementAt: (index: number) => unknown;

  constructor(length: number, elementAt: (index: number) => unknown) {
    this.length = length;
    this.#elementAt = elementAt;
  }

  *[Symbol.iterator](): Iterator<unknown> {
    for (let index = 0; index < this.length; index++) yield this.#elementAt(index);
  }
}

/** A list of a message, long or short; null for any other value. */
export function listOf(value: unknown): Iterable<unknown> | null {
  return Array.isArray(value) || value instanceof LongList ? value : null;
}

/** A text so long that it is made only when it is read, which it rarely is. */
export class LongText {
  /** As it stands in the body, between quotation marks and with its escapes. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** A point that is kept has an empty text in its place. */
  toJSON(): string {
    return "";
  }
}
