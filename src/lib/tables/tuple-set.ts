import { grown } from "./columns.ts";
import { hashTuple } from "./hash.ts";

/**
 * Distinct tuples of 32-bit integers, numbered from 0 in order of first appearance: an open hash table over one packed
 * array, so a tuple costs its integers and one slot.
 */
export interface TupleSet {
  /** The number of the tuple; a new one is copied. */
  add(tuple: ArrayLike<number>): number;
  at(index: number, member: number): number;
  /** All tuples, `width` integers each. */
  tuples(): Uint32Array;
}

const EMPTY = 0xffffffff;
const SLOTS_INITIAL = 16;

export function createTupleSet(width: number): TupleSet {
  let packed = new Uint32Array(8 * width);
  let size = 0;
  let slots = new Uint32Array(SLOTS_INITIAL).fill(EMPTY);
  let last = -1; // The result of the last `add()`: neighbours are often alike.

  /** The slot of the tuple, or the empty slot for it. */
  function findSlot(tuple: ArrayLike<number>, start: number): number {
    const mask = slots.length - 1;
    let slot = hashTuple(tuple, start, width) & mask;
    while (slots[slot] !== EMPTY && !sameAt(slots[slot]!, tuple, start)) slot = (slot + 1) & mask;
    return slot;
  }

  function sameAt(index: number, tuple: ArrayLike<number>, start: number): boolean {
    for (let m = 0; m < width; m++) if (packed[index * width + m] !== tuple[start + m]) return false;
    return true;
  }

  function rehash(): void {
    slots = new Uint32Array(slots.length * 2).fill(EMPTY);
    for (let index = 0; index < size; index++) slots[findSlot(packed, index * width)] = index;
  }

  return {
    add(tuple) {
      if (last >= 0 && sameAt(last, tuple, 0)) return last;
      const slot = findSlot(tuple, 0);
      const known = slots[slot]!;
      if (known !== EMPTY) {
        last = known;
        return known;
      }
      if ((size + 1) * width > packed.length) packed = grown(packed);
      for (let m = 0; m < width; m++) packed[size * width + m] = tuple[m]!;
      slots[slot] = size;
      last = size;
      size++;
      if (size * 2 > slots.length) rehash();
      return last;
    },
    at: (index, member) => packed[index * width + member]!,
    tuples: () => packed.slice(0, size * width), // A view of a short array would take Bun longer.
  };
}
