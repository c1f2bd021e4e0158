/*
 * Numbers by slot, in pages: few devices need little memory, and growing never copies.
 */

const PAGE_SHIFT = 8;
const PAGE_SLOTS = 1 << PAGE_SHIFT;
const PAGE_MASK = PAGE_SLOTS - 1;

/** One double for each slot; 0 if it was not set. */
export class NumberColumn {
  readonly #pages: Float64Array[] = [];

  get(slot: number): number {
    return this.#pages[slot >>> PAGE_SHIFT]?.[slot & PAGE_MASK] ?? 0;
  }

  set(slot: number, value: number): void {
    const at = slot >>> PAGE_SHIFT;
    while (this.#pages.length <= at) this.#pages.push(new Float64Array(PAGE_SLOTS));
    this.#pages[at]![slot & PAGE_MASK] = value;
  }
}

/** The last few numbers of each slot (ring buffers), of 32 bits each. */
export class LastNumbers {
  readonly #length: number;
  readonly #pages: Page[] = [];
  readonly #scratch: Float32Array;

  constructor(length: number) {
    this.#length = length;
    this.#scratch = new Float32Array(length);
  }

  count(slot: number): number {
    return Math.min(this.#pages[slot >>> PAGE_SHIFT]?.pushed[slot & PAGE_MASK] ?? 0, this.#length);
  }

  push(slot: number, value: number): void {
    const { values, pushed } = this.#pageOf(slot);
    const at = slot & PAGE_MASK;
    const count = pushed[at]!;
    values[at * this.#length + (count % this.#length)] = value;
    // The count starts over at twice the length, so that it fits a byte and still shows that the ring buffer is full.
    pushed[at] = count + 1 === 2 * this.#length ? this.#length : count + 1;
  }

  /** The number that was pushed last, or NaN. */
  newest(slot: number): number {
    const { values, pushed } = this.#pageOf(slot);
    return pushed[slot & PAGE_MASK] === 0 ? Number.NaN : values[this.#newestIndex(slot, pushed)]!;
  }

  /** Replaces the number that was pushed last. */
  replaceNewest(slot: number, value: number): void {
    const { values, pushed } = this.#pageOf(slot);
    values[this.#newestIndex(slot, pushed)] = value;
  }

  /** All numbers, unordered; valid until the next push. */
  all(slot: number): Float32Array {
    const start = (slot & PAGE_MASK) * this.#length;
    return this.#pageOf(slot).values.subarray(start, start + this.count(slot));
  }

  /** All numbers in ascending order; valid until the next call for any slot. */
  sorted(slot: number): Float32Array {
    const all = this.all(slot);
    this.#scratch.set(all);
    return this.#scratch.subarray(0, all.length).sort();
  }

  clear(slot: number): void {
    this.#pageOf(slot).pushed[slot & PAGE_MASK] = 0;
  }

  #newestIndex(slot: number, pushed: Uint8Array): number {
    const at = slot & PAGE_MASK;
    return at * this.#length + ((pushed[at]! + this.#length - 1) % this.#length);
  }

  #pageOf(slot: number): Page {
    const at = slot >>> PAGE_SHIFT;
    while (this.#pages.length <= at) {
      this.#pages.push({
        values: new Float32Array(PAGE_SLOTS * this.#length),
        pushed: new Uint8Array(PAGE_SLOTS),
      });
    }
    return this.#pages[at]!;
  }
}

interface Page {
  readonly values: Float32Array;
  /** How many numbers were pushed to each slot, up to twice the length of its ring buffer. */
  readonly pushed: Uint8Array;
}

/** The quantile of ascending numbers, interpolated between the two around it. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)]!;
  return below + (sorted[Math.ceil(position)]! - below) * (position % 1);
}
