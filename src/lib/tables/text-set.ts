import type { Buffer } from "node:buffer";
import { hashAscii } from "./hash.ts";

/**
 * Distinct texts, numbered from 1 in order of first appearance; 0 means none. A text that lies in bytes can be found
 * without creating a string.
 */
export class TextSet {
  readonly texts: string[] = [""];
  /** The engine's own table, which is faster for strings. Null while all texts came from bytes. */
  #numbers: Map<string, number> | null = null;
  /**
   * An open hash table of the texts that came from bytes: their numbers, or 0, and their hashes. Half of it is empty.
   */
  #slots: Int32Array;
  #hashes: Int32Array;
  #used = 0;

  constructor(textsExpected: number) {
    const slots = 2 ** Math.ceil(Math.log2(2 * textsExpected + 2));
    this.#slots = new Int32Array(slots);
    this.#hashes = new Int32Array(slots);
  }

  /** The text's number, or 0. */
  find(text: string): number {
    return this.#allNumbers().get(text) ?? 0;
  }

  /** The text's number; a new text is added. */
  add(text: string): number {
    const numbers = this.#allNumbers();
    const known = numbers.get(text);
    if (known !== undefined) return known;
    const added = this.texts.push(text) - 1;
    numbers.set(text, added);
    return added;
  }

  /** Like `add()`, for a text in ASCII bytes. */
  addAscii(bytes: Buffer, start: number, end: number): number {
    if (2 * this.#used === this.#slots.length) this.#grow();
    const hash = hashAscii(bytes, start, end);
    const slot = this.#slotOf(bytes, start, end, hash);
    const known = this.#slots[slot]!;
    if (known !== 0) return known;
    const text = bytes.toString("latin1", start, end);
    const added = this.#numbers === null ? this.texts.push(text) - 1 : this.add(text);
    this.#slots[slot] = added;
    this.#hashes[slot] = hash;
    this.#used++;
    return added;
  }

  /** The number of a text that was added by `addAscii()`; else 0. */
  findAscii(bytes: Buffer, start: number, end: number): number {
    return this.#slots[this.#slotOf(bytes, start, end, hashAscii(bytes, start, end))]!;
  }

  /** The slot of the text, or the empty slot for it. */
  #slotOf(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const number = slots[slot]!;
      if (number === 0) return slot;
      if (this.#hashes[slot] === hash && isAt(this.texts[number]!, bytes, start, end)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #allNumbers(): Map<string, number> {
    if (this.#numbers !== null) return this.#numbers;
    const numbers = new Map<string, number>();
    for (let number = 1; number < this.texts.length; number++) numbers.set(this.texts[number]!, number);
    this.#numbers = numbers;
    return numbers;
  }

  #grow(): void {
    const slots = this.#slots;
    const hashes = this.#hashes;
    const length = 2 * slots.length;
    this.#slots = new Int32Array(length);
    this.#hashes = new Int32Array(length);
    for (let from = 0; from < slots.length; from++) {
      if (slots[from] === 0) continue;
      let to = hashes[from]! & (length - 1);
      while (this.#slots[to] !== 0) to = (to + 1) & (length - 1);
      this.#slots[to] = slots[from]!;
      this.#hashes[to] = hashes[from]!;
    }
  }
}

function isAt(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
