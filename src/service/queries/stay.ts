import { inDirectionOf, squaredChord, type UnitVector } from "../../model/geo/unit-vector.ts";

/**
 * A stay's center is the mean of this many first positions: half an hour at one a second. This limits a stay's memory,
 * and how far a creeping device can pull the center along.
 */
export const CENTERED_POSITIONS_MAX = 2048;

/** A position of the range, and the path before it. */
export interface Fix extends UnitVector {
  readonly timestampMs: number;
  /** Path length and observed time up to here. */
  readonly meters: number;
  readonly heardMs: number;
}

/** The extent of a stay, from the first to the last position within the radius of its center. */
export interface FinishedStay {
  readonly center: UnitVector;
  readonly first: Fix;
  readonly last: Fix;
  /** Positions within the radius, including first and last. */
  readonly positions: number;
  /** The part of that time away from the center: from the last position before each stray to the next one after it. */
  readonly awayMs: number;
}

/** Positions around their common center, which become a stop if it lasts long enough. */
export class Stay {
  readonly #reach: number;
  readonly #fixes: Fix[] = [];
  /** The time away before each fix. */
  readonly #awayMs: number[] = [];
  /** How many first fixes turned out to be the way to the stay. */
  #dropped = 0;
  #x = 0;
  #y = 0;
  #z = 0;
  #center: UnitVector;
  #last: Fix;
  /** Null while the center may move. */
  #finished: FinishedStay | null = null;

  /** `reach` is the radius as a squared chord. */
  constructor(first: Fix, reach: number) {
    this.#reach = reach;
    this.#center = first;
    this.#last = first;
    this.join(first, 0);
  }

  get lastMs(): number {
    return this.#last.timestampMs;
  }

  holds(fix: Fix): boolean {
    return squaredChord(fix, this.#center) <= this.#reach;
  }

  /** Adds a position of the stay after a time away. */
  join(fix: Fix, awayMs: number): void {
    this.#last = fix;
    if (this.#finished !== null) {
      const { positions, awayMs: before } = this.#finished;
      this.#finished = { ...this.#finished, last: fix, positions: positions + 1, awayMs: before + awayMs };
      return;
    }
    this.#awayMs.push((this.#awayMs.at(-1) ?? 0) + awayMs);
    this.#fixes.push(fix);
    this.#move(fix, 1);
    while (!this.holds(this.#fixes[this.#dropped]!)) this.#move(this.#fixes[this.#dropped++]!, -1);
    if (this.#fixes.length === CENTERED_POSITIONS_MAX) this.#finished = this.finish();
  }

  #move({ x, y, z }: Fix, sign: number): void {
    this.#x += sign * x;
    this.#y += sign * y;
    this.#z += sign * z;
    this.#center = inDirectionOf(this.#x, this.#y, this.#z);
  }

  /** The extent so far. Positions that the center moved away from don't count. */
  finish(): FinishedStay {
    if (this.#finished !== null) return this.#finished;
    const isHeld = (fix: Fix) => this.holds(fix);
    const first = this.#dropped;
    const last = this.#fixes.findLastIndex(isHeld);
    return {
      center: this.#center,
      first: this.#fixes[first]!,
      last: this.#fixes[last]!,
      positions: this.#fixes.slice(first).filter(isHeld).length,
      awayMs: this.#awayMs[last]! - this.#awayMs[first]!,
    };
  }
}
