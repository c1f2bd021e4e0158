import { assert } from "../../lib/assert.ts";
import { hashText } from "../../lib/tables/hash.ts";
import { END, HashChains } from "../../lib/tables/hash-chains.ts";
import { NumberPool, PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";
import { PackedTexts } from "../../lib/tables/packed-texts.ts";

/**
 * Texts kept once and named by numbers from 1; 0 is free to mean "none". Each counts how often it is named, and is
 * gone, its number to be given again, with the last that named it.
 */
export class CountedTexts {
  readonly #chains = new HashChains();
  readonly #pool = new NumberPool();
  readonly #texts = new PackedTexts();
  /** Pages of how often each is named. */
  readonly #counts: (Uint32Array | undefined)[] = [];

  constructor() {
    this.#take("", hashText("")); // Nobody gets number 0.
    this.#chains.remove(0); // And nobody finds it.
  }

  get size(): number {
    return this.#pool.size - 1;
  }

  /** The number of a text, which is added where it is new: that one is to be retained, or it stays for ever. */
  intern(text: string): number {
    const hash = hashText(text);
    const known = this.#findBy(text, hash);
    return known === 0 ? this.#take(text, hash) : known;
  }

  /** The number of a text, or 0 where nothing names it. */
  find(text: string): number {
    return this.#findBy(text, hashText(text));
  }

  text(number: number): string {
    return this.#texts.text(number);
  }

  /** Whether this is the text of a number. */
  is(number: number, text: string): boolean {
    return this.#texts.is(number, text);
  }

  /** A hash of a text, which is other in each process. */
  hash(number: number): number {
    return this.#chains.hashOf(number);
  }

  retain(number: number): void {
    this.#counts[number >>> PAGE_SHIFT]![number & PAGE_MASK]!++;
  }

  release(number: number): void {
    const counts = this.#counts[number >>> PAGE_SHIFT]!;
    const at = number & PAGE_MASK;
    assert(counts[at]! > 0, "a text is released as often as it was retained");
    if (--counts[at]! > 0) return;
    this.#chains.remove(number);
    this.#texts.delete(number);
    if (this.#pool.giveBack(number)) this.#counts[number >>> PAGE_SHIFT] = undefined;
  }

  #findBy(text: string, hash: number): number {
    let link = this.#chains.find(this.#chains.chainOf(hash), hash);
    while (link !== END && !this.#texts.is(link - 1, text))
      link = this.#chains.find(this.#chains.after(link), hash);
    return link === END ? 0 : link - 1;
  }

  #take(text: string, hash: number): number {
    const number = this.#pool.take();
    this.#counts[number >>> PAGE_SHIFT] ??= new Uint32Array(PAGE_NUMBERS);
    this.#texts.set(number, text);
    this.#chains.add(number, hash);
    return number;
  }
}
