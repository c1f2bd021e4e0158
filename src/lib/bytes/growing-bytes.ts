/* Bytes that come in pieces, joined: once all of them are there, or as they come. */

/** A copy of all pieces, one behind the other. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** Bytes that are joined as they come, since the memory that a piece lies in may be far larger than the piece. */
export class GrowingBytes {
  readonly #bytesMax: number;
  #buffer = new Uint8Array(0);
  #size = 0;

  /** The caller sees to it that no more than `bytesMax` come; no more memory than that is set aside. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether this number of bytes can be added without moving those that are there. */
  hasRoomFor(bytes: number): boolean {
    return this.#size + bytes <= this.#buffer.length;
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#buffer.length) this.#grow(size);
    this.#buffer.set(piece, this.#size);
    this.#size = size;
  }

  /** All of them so far, until more are added or they are dropped. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  /** Frees their memory. */
  drop(): void {
    this.#transfer(0);
    this.#size = 0;
  }

  #grow(size: number): void {
    this.#transfer(Math.max(size, Math.min(2 * size, this.#bytesMax)));
  }

  /** The memory left behind is free at once; garbage of this size would outrun the collector. */
  #transfer(size: number): void {
    this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(size));
  }
}
