import { Buffer } from "node:buffer";

/** Of one value without its long texts. A LineString of 16 MiB has some 300,000 points. */
const VALUE_BYTES_MAX = 16 * 1024 * 1024;

const CAPACITY_MIN = 64 * 1024;

/** The bytes of one value: those of earlier pieces in a buffer, those of the piece at hand where they lie. */
export class KeptBytes {
  #carried = Buffer.allocUnsafe(0);
  #carriedBytes = 0;
  /** From where on the piece at hand is kept. */
  #from = 0;
  #isKept = true;
  isTooLarge = false;

  begin(at: number, isKept: boolean): void {
    this.#carriedBytes = 0;
    this.#from = at;
    this.#isKept = isKept;
    this.isTooLarge = false;
  }

  /** How much is kept up to here. */
  lengthAt(at: number): number {
    return this.#carriedBytes + at - this.#from;
  }

  /** The piece ends before the value does. */
  suspend(piece: Buffer): void {
    this.#carry(piece, piece.length);
    this.#from = 0;
  }

  /** Forgets what was kept behind so many bytes, and goes on here. */
  drop(piece: Buffer, keptBytes: number, at: number): void {
    if (keptBytes < this.#carriedBytes) this.#carriedBytes = keptBytes;
    else this.#carry(piece, this.#from + keptBytes - this.#carriedBytes);
    this.#from = at;
  }

  /** The value that ends here; null where it is more than is kept. Good until more is kept. */
  bytes(piece: Buffer, end: number): Buffer | null {
    if (this.#carriedBytes === 0 && end - this.#from <= VALUE_BYTES_MAX && !this.isTooLarge)
      return piece.subarray(this.#from, end);
    this.#carry(piece, end);
    return this.isTooLarge ? null : this.#carried.subarray(0, this.#carriedBytes);
  }

  #carry(piece: Buffer, end: number): void {
    const length = this.lengthAt(end);
    if (length > VALUE_BYTES_MAX) this.isTooLarge = true;
    if (!this.#isKept || this.isTooLarge) {
      // Lengths are still wanted: where a text began is told by them.
      this.#carriedBytes = length;
      return;
    }
    if (length > this.#carried.length) this.#grow(length);
    piece.copy(this.#carried, this.#carriedBytes, this.#from, end);
    this.#carriedBytes = length;
  }

  #grow(bytes: number): void {
    const capacity = Math.max(CAPACITY_MIN, 2 ** Math.ceil(Math.log2(bytes)));
    const grown = Buffer.allocUnsafe(capacity);
    this.#carried.copy(grown, 0, 0, this.#carriedBytes);
    this.#carried = grown;
  }
}
