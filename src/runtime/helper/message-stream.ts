import { deserialize, serialize } from "node:v8";

/*
 * Messages on a stream of bytes between two processes of one runtime: the length of each, four bytes with the least
 * first, then the value as the runtime's structured clone writes it.
 */

const LENGTH_BYTES = 4;

/** Two pieces, to be written one behind the other. */
export function encodeMessage(message: unknown): readonly [Uint8Array, Uint8Array] {
  const value = serialize(message);
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, value.length, true);
  return [length, value];
}

/** Finds messages in the pieces that a stream comes in. */
export class MessageReader {
  readonly #onMessage: (message: unknown) => void;
  readonly #length = new Uint8Array(LENGTH_BYTES);
  /** The value that is coming in; null while its length is. */
  #value: Uint8Array | null = null;
  /** Bytes of the length, or of the value, that are here. */
  #filled = 0;

  constructor(onMessage: (message: unknown) => void) {
    this.#onMessage = onMessage;
  }

  take(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      const target = this.#value ?? this.#length;
      const part = piece.subarray(at, at + target.length - this.#filled);
      target.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === target.length) this.#complete();
    }
  }

  #complete(): void {
    this.#filled = 0;
    const value = this.#value;
    if (value === null) {
      this.#value = new Uint8Array(new DataView(this.#length.buffer).getUint32(0, true));
    } else {
      this.#value = null;
      this.#onMessage(deserialize(value));
    }
  }
}
