import { hashText } from "./hash.ts";

/**
 * What is kept by text, however many there are: a map that doubles stands still while it moves its entries, and of
 * V8's none takes more than 16.7 million. So a first map takes what is usual, and beyond it texts are spread over many.
 */
export class TextMap<Value> {
  readonly #first = new Map<string, Value>();
  /** None before the first map was full. */
  readonly #others: Map<string, Value>[] = [];
  readonly #firstMax: number;

  constructor(firstMax = FIRST_MAX) {
    this.#firstMax = firstMax;
  }

  get(text: string): Value | undefined {
    const value = this.#first.get(text);
    return value === undefined && this.#others.length > 0 ? this.#otherOf(text).get(text) : value;
  }

  /** Adds a text that is not there. */
  add(text: string, value: Value): void {
    if (this.#first.size < this.#firstMax) {
      this.#first.set(text, value);
      return;
    }
    if (this.#others.length === 0) for (let at = 0; at < OTHERS; at++) this.#others.push(new Map());
    this.#otherOf(text).set(text, value);
  }

  /** Takes out a text that is there. */
  delete(text: string): void {
    if (!this.#first.delete(text)) this.#otherOf(text).delete(text);
  }

  #otherOf(text: string): Map<string, Value> {
    return this.#others[hashText(text) & (OTHERS - 1)]!;
  }
}

/** Doubling a map of so many takes some milliseconds. */
const FIRST_MAX = 131_072;
/** A power of two: with as many in each as in the first, 33 million texts. */
const OTHERS = 256;
