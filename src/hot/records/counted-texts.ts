import { assert } from "../../lib/assert.ts";
import { NumberPool, PAGE_MASK, PAGE_NUMBERS, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";
import { TextMap } from "../../lib/tables/text-map.ts";

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
    this.#pages[number >>> PAGE_SHIFT]!.texts[number & PAGE_MASK] = text;
    return number;
  }
}

interface TextPage {
  readonly texts: string[];
  readonly counts: Uint32Array;
}

function createPage(): TextPage {
  return { texts: new Array<string>(PAGE_NUMBERS).fill(""), counts: new Uint32Array(PAGE_NUMBERS) };
}
