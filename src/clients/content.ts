/** The body of a message, classified by its first byte. `Content-Type` is only a hint, which clients get wrong. */
export type Content =
  | { readonly kind: "empty" }
  /**
   * JSON that begins with a brace or a bracket. In a long body, lists are `LongList`s, long texts (a photo) are
   * `LongText`s, and other long values are replaced by empty ones of their kind.
   */
  | { readonly kind: "json"; readonly value: unknown }
  /** Anything else: mostly form encoding, or the CSV of small trackers. At most 64 KiB. */
  | { readonly kind: "text"; readonly text: string }
  /** Neither JSON nor a text of acceptable length. */
  | { readonly kind: "unreadable" };

/** A list that is too long to be parsed at once. Each element is parsed when it is read. */
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

/** A long text, decoded only when it is read, which is rare. */
export class LongText {
  /** The raw bytes of the body between the quotation marks, with escapes. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** A stored point has an empty text instead. */
  toJSON(): string {
    return "";
  }
}
