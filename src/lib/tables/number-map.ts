import { hashNumber } from "./hash.ts";

/** No number that is kept under a key. */
export const NO_NUMBER = -1;

const SLOTS_MIN = 8;
/** In place of a key: the slot is free. Keys are kept one greater than they are. */
const FREE = 0;

/**
 * Numbers from 0 to 2³¹ - 1 by whole numbers from 0 to 2³² - 2: an open hash table in two columns, of which a `Map`
 * takes three times the memory.
 */
export class NumberMap {
  #keys = new Uint32Array(SLOTS_MIN);
  #numbers = new Int32Array(SLOTS_MIN);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of a key, or `NO_NUMBER`. */
  get(key: number): number {
    const slot = this.#slotOf(key);
    return this.#keys[slot] === FREE ? NO_NUMBER : this.#numbers[slot]!;
  }

  set(key: number, number: number): void {
    let slot = this.#slotOf(key);
    if (this.#keys[slot] === FREE) {
      this.#size++;
      if (this.#size > (this.#keys.length * 3) / 4) {
        this.#grow();
        slot = this.#slotOf(key);
      }
      this.#keys[slot] = key + 1;
    }
    this.#numbers[slot] = number;
  }

  /** Takes out a key, where it is there. Those behind it move up, so that none is looked for beyond a free slot. */
  delete(key: number): void {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let free = this.#slotOf(key);
    if (keys[free] === FREE) return;
    this.#size--;
    for (let slot = (free + 1) & mask; keys[slot] !== FREE; slot = (slot + 1) & mask) {
      const distance = (slot - this.#homeOf(keys[slot]! - 1)) & mask;
      if (distance < ((slot - free) & mask)) continue; // Its home lies behind the free slot.
      keys[free] = keys[slot]!;
      this.#numbers[free] = this.#numbers[slot]!;
      free = slot;
    }
    keys[free] = FREE;
  }

  *keys(): Iterable<number> {
    for (const key of this.#keys) if (key !== FREE) yield key - 1;
  }

  /** Its slot, or the free one where it belongs. */
  #slotOf(key: number): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let slot = this.#homeOf(key);
    while (keys[slot] !== FREE && keys[slot] !== key + 1) slot = (slot + 1) & mask;
    return slot;
  }

  #homeOf(key: number): number {
    return hashNumber(key) & (this.#keys.length - 1);
  }

  #grow(): void {
    const [keys, numbers] = [this.#keys, this.#numbers];
    this.#keys = new Uint32Array(2 * keys.length);
    this.#numbers = new Int32Array(2 * keys.length);
    for (let from = 0; from < keys.length; from++) {
      if (keys[from] === FREE) continue;
      const slot = this.#slotOf(keys[from]! - 1);
      this.#keys[slot] = keys[from]!;
      this.#numbers[slot] = numbers[from]!;
    }
  }
}
