import { assert } from "../../lib/assert.ts";
import { hashText } from "../../lib/tables/hash.ts";
import { END, HashChains } from "../../lib/tables/hash-chains.ts";
import { NumberPool, PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";
import { PackedTexts } from "../../lib/tables/packed-texts.ts";

/**
 * Stores each text once, under a number from 1; callers may use 0 for "none". Each text has a reference count. At 0 the
 * text is removed and its number is used again.
 */
export class CountedTexts {
  readonly #chains = new HashChains();
  readonly #pool = new NumberPool();
  readonly #texts = new PackedTexts();
  /** Reference counts, in pages. */
  readonly #counts: (Uint32Array | undefined)[] = [];

  constructor() {
    this.#take("", hashText("")); // Reserves number 0.
    this.#chains.remove(0); // And keeps it from being found.
  }

  get size(): number {
    return this.#pool.size - 1;
  }

  /** The number of a text, which is added if it is new. The caller retains it, or else the text stays for ever. */
  intern(text: string): number {
    const hash = hashText(text);
    const known = this.#findBy(text, hash);
    return known === 0 ? this.#take(text, hash) : known;
  }

  /** The number of a text, or 0 if it is not stored. */
  find(text: string): number {
    return this.#findBy(text, hashText(text));
  }

  text(number: number): string {
    return this.#texts.text(number);
  }

  /** Whether the number stands for this text. */
  is(number: number, text: string): boolean {
    return this.#texts.is(number, text);
  }

  /** A hash of the text, which differs between processes. */
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
