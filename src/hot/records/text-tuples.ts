import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";
import type { CountedTexts } from "./counted-texts.ts";
import { CountedTuples, NO_TUPLE } from "./counted-tuples.ts";

/** Distinct tuples of texts: the profiles or the states of a dictionary. A member that was not carried is 0. */
export class TextTuples {
  readonly counted: CountedTuples;
  readonly #texts: CountedTexts;
  readonly #scratch: Uint32Array;
  /** The last `merge()`: a report may be merged into many rows that corrections made of a record. */
  readonly #last = { stored: NO_TUPLE, carried: NO_TUPLE, merged: NO_TUPLE };

  constructor(width: number, texts: CountedTexts) {
    this.counted = new CountedTuples(width);
    this.#texts = texts;
    this.#scratch = new Uint32Array(width);
  }

  /** The text of a member; null if it was not carried. */
  textAt(tuple: number, member: number): string | null {
    const text = this.counted.at(tuple, member);
    return text === NOT_CARRIED ? null : this.#texts.text(text);
  }

  /**
   * The number of a batch's tuple, whose texts begin at `start` of `from`. `known` maps the batch's texts to numbers, 0
   * for a text that was not looked up yet.
   */
  intern(batchTexts: readonly string[], from: Uint32Array, start: number, known: Uint32Array): number {
    const scratch = this.#scratch;
    for (let m = 0; m < scratch.length; m++) {
      const text = from[start + m]!;
      if (text !== NOT_CARRIED && known[text] === 0) known[text] = this.#texts.intern(batchTexts[text]!);
      scratch[m] = known[text]!; // Text 0 is "not carried" and stays 0.
    }
    return this.counted.add(scratch, this.#retainTexts);
  }

  /** Whether a batch's tuple equals this one. Texts that match are added to `known`. */
  isSame(
    tuple: number,
    batchTexts: readonly string[],
    from: Uint32Array,
    start: number,
    known: Uint32Array,
  ): boolean {
    const { width } = this.counted;
    const cells = this.counted.cellsOf(tuple);
    const cell = this.counted.startOf(tuple);
    for (let m = 0; m < width; m++) {
      const text = from[start + m]!;
      const member = cells[cell + m]!;
      if (text === NOT_CARRIED || member === NOT_CARRIED) {
        if (text !== member) return false;
      } else if (known[text] === 0) {
        if (!this.#texts.is(member, batchTexts[text]!)) return false;
        known[text] = member;
      } else if (known[text] !== member) return false;
    }
    return true;
  }

  /** The stored tuple after a report that carries another is merged into it. */
  merge(stored: number, carried: number): number {
    if (stored === carried) return stored;
    const last = this.#last;
    if (stored === last.stored && carried === last.carried) return last.merged;
    const { counted } = this;
    const scratch = this.#scratch;
    counted.read(stored, scratch);
    for (let m = 0; m < scratch.length; m++) {
      const member = counted.at(carried, m);
      if (member !== NOT_CARRIED) scratch[m] = member;
    }
    last.stored = stored;
    last.carried = carried;
    last.merged = counted.add(scratch, this.#retainTexts);
    return last.merged;
  }

  /** The tuple with another text for one member. */
  withMember(tuple: number, member: number, text: number): number {
    this.counted.read(tuple, this.#scratch);
    this.#scratch[member] = text;
    return this.counted.add(this.#scratch, this.#retainTexts);
  }

  /**
   * Whether a batch's tuple, one of `from`, carries a text that `stored` lacks or has with another value, in any member
   * except `ignored`.
   */
  carriesOther(
    { texts }: ReportBatch,
    from: Uint32Array,
    tuple: number,
    stored: number,
    ignored: number,
  ): boolean {
    const { width } = this.counted;
    for (let m = 0; m < width; m++) {
      const text = from[tuple * width + m]!;
      if (text === NOT_CARRIED || m === ignored) continue;
      const member = this.counted.at(stored, m);
      if (member === NOT_CARRIED || !this.#texts.is(member, texts[text]!)) return true;
    }
    return false;
  }

  /** Removes the tuples without references. */
  collect(): void {
    this.#last.stored = NO_TUPLE;
    this.counted.collect(this.#releaseTexts);
  }

  readonly #retainTexts = (members: Uint32Array): void => {
    for (const text of members) if (text !== NOT_CARRIED) this.#texts.retain(text);
  };

  readonly #releaseTexts = (members: Uint32Array): void => {
    for (const text of members) if (text !== NOT_CARRIED) this.#texts.release(text);
  };
}

/** Translates a batch's tuples to the numbers of those in memory. Each is looked up when it is first needed. */
export class TupleTranslation {
  readonly #tuples: TextTuples;
  readonly #batchTexts: readonly string[];
  readonly #from: Uint32Array;
  /** Numbers of the batch's texts, 0 for a text that was not looked up yet. */
  readonly #known: Uint32Array;
  readonly #numbers: Int32Array;

  constructor(tuples: TextTuples, batchTexts: readonly string[], from: Uint32Array, known: Uint32Array) {
    this.#tuples = tuples;
    this.#batchTexts = batchTexts;
    this.#from = from;
    this.#known = known;
    this.#numbers = new Int32Array(from.length / tuples.counted.width).fill(NO_TUPLE);
  }

  /** A correct guess saves looking up the tuple and its texts, each a walk through memory. */
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
