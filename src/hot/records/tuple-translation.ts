import { NO_TUPLE } from "./counted-tuples.ts";
import type { TextTuples } from "./text-tuples.ts";

/** A batch's tuples in numbers of those that memory keeps, each looked for when it is first asked for. */
export class TupleTranslation {
  readonly #tuples: TextTuples;
  readonly #batchTexts: readonly string[];
  readonly #from: Uint32Array;
  /** Numbers of the batch's texts, or 0 for "not yet". */
  readonly #known: Uint32Array;
  readonly #numbers: Int32Array;

  constructor(tuples: TextTuples, batchTexts: readonly string[], from: Uint32Array, known: Uint32Array) {
    this.#tuples = tuples;
    this.#batchTexts = batchTexts;
    this.#from = from;
    this.#known = known;
    this.#numbers = new Int32Array(from.length / tuples.counted.width).fill(NO_TUPLE);
  }

  /** A guess that is right spares looking for texts and tuple, each a walk through memory. */
  numberOf(tuple: number, guess: number): number {
    const number = this.#numbers[tuple]!;
    return number === NO_TUPLE ? this.#find(tuple, guess) : number;
  }

  #find(tuple: number, guess: number): number {
    const start = tuple * this.#tuples.counted.width;
    const isGuessed =
      guess !== NO_TUPLE && this.#tuples.isSame(guess, this.#batchTexts, this.#from, start, this.#known);
    const number = isGuessed ? guess : this.#tuples.intern(this.#batchTexts, this.#from, start, this.#known);
    this.#numbers[tuple] = number;
    return number;
  }
}
