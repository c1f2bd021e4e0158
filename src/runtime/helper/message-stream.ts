import { deserialize, serialize } from "node:v8";

/*
 * Messages in a byte stream between two processes of the same runtime: a u32 length, little-endian, then the value in
 * the runtime's structured clone format.
 */

const LENGTH_BYTES = 4;

/** Returns two chunks to be written one after the other. */
export function encodeMessage(message: unknown): readonly [Uint8Array, Uint8Array] {
  const value = serialize(message);
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, value.length, true);
  return [length, value];
}

/** Splits the chunks of a byte stream into messages. */
export class MessageReader {
  readonly #onMessage: (message: unknown) => void;
  readonly #length = new Uint8Array(LENGTH_BYTES);
  /** The value being received; null while its length is being received. */
  #value: Uint8Array | null = null;
  /** Bytes received of the length or of the value. */
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
