import { assert } from "../../lib/assert.ts";
import { hashText } from "../../lib/tables/hash.ts";
import { NumberPool, PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";
import { TextMap } from "../../lib/tables/text-map.ts";

/** Not known yet; the one text in 4 billion that has it is hashed each time. */
const NO_HASH = 0;

/**
 * Texts kept once and named by numbers from 1; 0 is free to mean "none". Each counts how often it is named, and is
 * gone, its number to be given again, with the last that named it.
 */
export class CountedTexts {
  readonly #numbers = new TextMap<number>();
  readonly #pool = new NumberPool();
  readonly #pages: (TextPage | undefined)[] = [];

  constructor() {
    this.#take(""); // Nobody gets number 0.
  }

  get size(): number {
    return this.#pool.size - 1;
  }

  /** The number of a text, which is added where it is new: that one is to be retained, or it stays for ever. */
  intern(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.#take(text);
    this.#numbers.add(text, number);
    return number;
  }

  /** The number of a text, or 0 where nothing names it. */
  find(text: string): number {
    return this.#numbers.get(text) ?? 0;
  }

  text(number: number): string {
    return this.#pages[number >>> PAGE_SHIFT]!.texts[number & PAGE_MASK]!;
  }

  /** A hash of a text, which is other in each process. */
  hash(number: number): number {
    const page = this.#pages[number >>> PAGE_SHIFT]!;
    const at = number & PAGE_MASK;
    if (page.hashes[at] === NO_HASH) page.hashes[at] = hashText(page.texts[at]!);
    return page.hashes[at]!;
  }

  retain(number: number): void {
    this.#pages[number >>> PAGE_SHIFT]!.counts[number & PAGE_MASK]!++;
  }

  release(number: number): void {
    const page = this.#pages[number >>> PAGE_SHIFT]!;
    const at = number & PAGE_MASK;
    assert(page.counts[at]! > 0, "a text is released as often as it was retained");
    if (--page.counts[at]! > 0) return;
    this.#numbers.delete(page.texts[at]!);
    page.texts[at] = "";
    if (this.#pool.giveBack(number)) this.#pages[number >>> PAGE_SHIFT] = undefined;
  }

  #take(text: string): number {
    const number = this.#pool.take();
    this.#pages[number >>> PAGE_SHIFT] ??= createPage();
    const page = this.#pages[number >>> PAGE_SHIFT]!;
    page.texts[number & PAGE_MASK] = text;
    page.hashes[number & PAGE_MASK] = NO_HASH;
    return number;
  }
}

interface TextPage {
  readonly texts: string[];
  readonly counts: Uint32Array;
  /** Of texts whose hash was asked for. */
  readonly hashes: Int32Array;
}

function createPage(): TextPage {
  return {
    texts: new Array<string>(PAGE_NUMBERS).fill(""),
    counts: new Uint32Array(PAGE_NUMBERS),
    hashes: new Int32Array(PAGE_NUMBERS),
  };
}
