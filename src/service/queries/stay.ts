import { inDirectionOf, squaredChord, type UnitVector } from "../../model/geo/unit-vector.ts";

/**
 * How many of a stay's first positions its center is made of: half an hour at one a second. This bounds what a stay
 * takes of memory, and how far a device can pull it along by creeping.
 */
export const CENTERED_POSITIONS_MAX = 2048;

/** One position of the range, and what came before it. */
export interface Fix extends UnitVector {
  readonly timestampMs: number;
  /** How far the device had gone when it was here, and for how long it had been heard. */
  readonly meters: number;
  readonly heardMs: number;
}

/** What a stay comes to: from its first to its last position within the radius of its center. */
export interface Settled {
  readonly center: UnitVector;
  readonly first: Fix;
  readonly last: Fix;
  /** Those within the radius, both of these included. */
  readonly positions: number;
  /** Of the time between the two: how long strays took, from the last position before each to the next. */
  readonly awayMs: number;
}

/** Positions around their common center: what becomes a stop if it lasts long enough. */
export class Stay {
  readonly #reach: number;
  readonly #fixes: Fix[] = [];
  /** What strays took before each. */
  readonly #awayMs: number[] = [];
  /** How many of the fixes turned out to be the way there. */
  #dropped = 0;
  #x = 0;
  #y = 0;
  #z = 0;
  #center: UnitVector;
  #last: Fix;
  /** Once the center moves no more. */
  #settled: Settled | null = null;

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

  /** Takes a position that it holds, after strays that took so long. */
  join(fix: Fix, awayMs: number): void {
    this.#last = fix;
    if (this.#settled !== null) {
      const { positions, awayMs: before } = this.#settled;
      this.#settled = { ...this.#settled, last: fix, positions: positions + 1, awayMs: before + awayMs };
      return;
    }
    this.#awayMs.push((this.#awayMs.at(-1) ?? 0) + awayMs);
    this.#fixes.push(fix);
    this.#move(fix, 1);
    while (!this.holds(this.#fixes[this.#dropped]!)) this.#move(this.#fixes[this.#dropped++]!, -1);
    if (this.#fixes.length === CENTERED_POSITIONS_MAX) this.#settled = this.settle();
  }

  #move({ x, y, z }: Fix, sign: number): void {
    this.#x += sign * x;
    this.#y += sign * y;
    this.#z += sign * z;
    this.#center = inDirectionOf(this.#x, this.#y, this.#z);
  }

  /** What it came to so far. Positions that the center moved away from don't count. */
  settle(): Settled {
    if (this.#settled !== null) return this.#settled;
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
