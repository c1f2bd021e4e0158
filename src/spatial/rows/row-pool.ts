import { assert } from "../../lib/assert.ts";

/** The memory that rows of leaves lie in. */

/** A run of rows for one leaf, in columns that many leaves share. */
export interface RowBlock {
  /** In milliseconds. */
  readonly times: Float64Array;
  /** In meters. */
  readonly accuracies: Float64Array;
  /** `POINT` columns a row. */
  readonly points: Float64Array;
  /** Numbers of rows that are holes, in no order: half as many as rows, from `start / 2` on. */
  readonly holes: Uint16Array;
  /** Where its rows begin, counted in rows: an even number. */
  readonly start: number;
  readonly capacity: number;
}

/** A point of a sphere of radius 1, and whose it is. */
export const POINT = { x: 0, y: 1, z: 2, device: 3, width: 4 } as const;

const CAPACITY_MIN = 4; // Capacities are even.
/** The first columns are small, since an app may have few devices; others are as long as all before, up to this. */
const COLUMN_ROWS_MIN = 16;
const COLUMN_ROWS_MAX = 65_536;

/**
 * Gives out blocks of rows. Thousands of leaves with arrays of their own would lie all over the heap; here a leaf
 * is a run in few arrays, and a block that was given back serves the next leaf of that size.
 */
export class RowPool {
  readonly #freeByCapacity = new Map<number, RowBlock[]>();
  #times = new Float64Array(0);
  #accuracies = new Float64Array(0);
  #points = new Float64Array(0);
  #holes = new Uint16Array(0);
  #columnRows = 0;
  #usedRows = 0;
  #allRows = 0;

  /** A block for at least so many rows. */
  take(rowsMin: number): RowBlock {
    const capacity = capacityFor(rowsMin);
    return this.#freeByCapacity.get(capacity)?.pop() ?? this.#cut(capacity);
  }

  giveBack(block: RowBlock): void {
    assert(block.capacity >= CAPACITY_MIN, "a leaf gives back rows that it holds");
    const free = this.#freeByCapacity.get(block.capacity);
    if (free === undefined) this.#freeByCapacity.set(block.capacity, [block]);
    else free.push(block);
  }

  #cut(capacity: number): RowBlock {
    if (this.#usedRows + capacity > this.#columnRows) {
      const rows = Math.max(capacity, COLUMN_ROWS_MIN, Math.min(COLUMN_ROWS_MAX, this.#allRows));
      this.#times = new Float64Array(rows);
      this.#accuracies = new Float64Array(rows);
      this.#points = new Float64Array(rows * POINT.width);
      this.#holes = new Uint16Array(rows >>> 1);
      this.#columnRows = rows;
      this.#usedRows = 0;
      this.#allRows += rows;
    }
    const start = this.#usedRows;
    this.#usedRows += capacity;
    return {
      times: this.#times,
      accuracies: this.#accuracies,
      points: this.#points,
      holes: this.#holes,
      start,
      capacity,
    };
  }
}

/** A power of two, or one and a half of it. In whole numbers alone: else the engine reckons rows in doubles. */
function capacityFor(rowsMin: number): number {
  let power = CAPACITY_MIN;
  while (power + (power >>> 1) < rowsMin) power <<= 1;
  return power >= rowsMin ? power : power + (power >>> 1);
}
