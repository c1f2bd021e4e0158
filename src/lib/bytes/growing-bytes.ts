/** Bytes that come in pieces, joined as they come: what the pieces lie in may be far larger than they are. */
export class GrowingBytes {
  readonly #bytesMax: number;
  #buffer = new Uint8Array(0);
  #size = 0;

  /** Somebody else sees to it that no more than `bytesMax` come; no more is set aside than that. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether so many more can be added without moving those that are there. */
  hasRoomFor(bytes: number): boolean {
    return this.#size + bytes <= this.#buffer.length;
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#buffer.length) this.#grow(size);
    this.#buffer.set(piece, this.#size);
    this.#size = size;
  }

  /** All of them so far. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  #grow(size: number): void {
    const grown = new Uint8Array(Math.max(size, Math.min(2 * size, this.#bytesMax)));
    grown.set(this.bytes());
    this.#buffer = grown;
  }
}
