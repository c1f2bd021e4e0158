/** Joins pieces into one copy. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** Joins bytes as they come. They are copied, because a piece may be a view of far more memory. */
export class GrowingBytes {
  readonly #bytesMax: number;
  #buffer = new Uint8Array(0);
  #size = 0;

  /** The caller must not add more than `bytesMax` bytes; no more memory than that is allocated. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether this many bytes can be added without moving the bytes so far. */
  hasRoomFor(bytes: number): boolean {
    return this.#size + bytes <= this.#buffer.length;
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#buffer.length) this.#grow(size);
    this.#buffer.set(piece, this.#size);
    this.#size = size;
  }

  /** All bytes so far; valid until the next `add()` or `drop()`. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#size);
  }

  /** Frees the memory. */
  drop(): void {
    this.#transfer(0);
    this.#size = 0;
  }

  #grow(size: number): void {
    this.#transfer(Math.max(size, Math.min(2 * size, this.#bytesMax)));
  }

  /** Transferring frees the old memory immediately; garbage of this size would outrun the collector. */
  #transfer(size: number): void {
    this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(size));
  }
}
