import { assert } from "../../lib/assert.ts";

/**
 * Places for texts in a ring buffer, one after the other, where a new text takes the place of the oldest. A text is
 * known by its offset, counted in bytes from before the first lap on, which is never another's.
 */
export class TextRing {
  readonly #start: number;
  readonly #bytes: number;
  /** Where the lap begins and where the next text goes. */
  #lap: number;
  #next: number;

  /** A ring of so many bytes of a memory, from `start` on. */
  constructor(start: number, bytes: number) {
    this.#start = start;
    this.#bytes = bytes;
    this.#lap = 2 * bytes; // So that 0, which says there is no text, is too old to be one.
    this.#next = this.#lap;
  }

  /** Texts of smaller offsets were pushed out. */
  get oldest(): number {
    return this.#next - this.#bytes;
  }

  /**
   * Where in the memory the text of an offset begins, which was not pushed out. A 32-bit number: JavaScriptCore would
   * go on with a double, and compile all that writes JSON at positions it leads to without its integer instructions.
   */
  placeOf(offset: number): number {
    return (this.#start + offset - (offset < this.#lap ? this.#lap - this.#bytes : this.#lap)) | 0;
  }

  /** The offset of a new text of so many bytes: behind the last one, or at the start of a new lap. */
  reserve(bytes: number): number {
    assert(bytes <= this.#bytes, "a record's text fits the ring buffer");
    if (this.#next + bytes > this.#lap + this.#bytes) {
      this.#lap += this.#bytes;
      this.#next = this.#lap;
    }
    const offset = this.#next;
    this.#next += bytes;
    assert(
      offset >= this.#lap && this.#next <= this.#lap + this.#bytes,
      "a text lies within its lap of the ring",
    );
    return offset;
  }
}
