/** What is held of a point. */
export const TIME = 0;
export const LONGITUDE = 1;
export const LATITUDE = 2;
export const ALTITUDE = 3;
export const SPEED = 4;
export const BEARING = 5;
export const ACCURACY = 6;
/** Where it lies in its file. */
export const LINE = 7;
/** Which of the reasons it is skipped for, if it is. */
export const REASON = 8;
const COLUMNS = 9;

/** A value as it is held: NaN where there is none, infinite where there is one that can't be read. */
export function heldValue(value: number | null): number {
  if (value === null) return Number.NaN;
  return Number.isNaN(value) ? Number.POSITIVE_INFINITY : value;
}

/** A value that is held, as points have it. */
export function valueOfHeld(held: number): number | null {
  if (Number.isNaN(held)) return null;
  return held === Number.POSITIVE_INFINITY ? Number.NaN : held;
}

const BLOCK_BITS = 12;
const BLOCK_POINTS = 1 << BLOCK_BITS;

/**
 * Points of a file whose parts come one after the other, as all times before all places: in the order of the file, by
 * numbers from 0 on, from the oldest that was not taken away. Values are held as
 * `heldValue` says.
 */
export class HeldPoints {
  readonly #blocks: Float64Array[] = [];
  /** Blocks that were taken away. */
  #blocksTaken = 0;
  #first = 0;
  #end = 0;

  /** The number of the oldest point. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next point gets. */
  get end(): number {
    return this.#end;
  }

  /** Returns the new point's number. */
  add(line: number): number {
    const number = this.#end++;
    if (this.#blockOf(number) === undefined)
      this.#blocks.push(new Float64Array(BLOCK_POINTS * COLUMNS).fill(Number.NaN));
    this.set(number, LINE, line);
    return number;
  }

  get(number: number, column: number): number {
    return this.#blockOf(number)![placeOf(number, column)]!;
  }

  set(number: number, column: number, value: number): void {
    this.#blockOf(number)![placeOf(number, column)] = value;
  }

  /** Takes the oldest point away. */
  take(): void {
    this.#first++;
    if (this.#first % BLOCK_POINTS !== 0) return;
    this.#blocks.shift();
    this.#blocksTaken++;
  }

  /** Gives up all points from this number on. */
  dropFrom(number: number): void {
    this.#end = number;
  }

  #blockOf(number: number): Float64Array | undefined {
    return this.#blocks[(number >>> BLOCK_BITS) - this.#blocksTaken];
  }
}

function placeOf(number: number, column: number): number {
  return (number & (BLOCK_POINTS - 1)) * COLUMNS + column;
}
