/** A run of rows for one leaf, in columns that many leaves share. */
export interface RowBlock {
  /** Two a row: time in milliseconds, accuracy in meters. */
  readonly facts: Float64Array;
  /** Four a row: x, y and z on a sphere of radius 1, device number. */
  readonly places: Float64Array;
  /** Where its rows begin, counted in rows. */
  readonly start: number;
  readonly capacity: number;
}

export const FACTS_WIDTH = 2;
export const PLACE_WIDTH = 4;

const CAPACITY_MIN = 4;
/** The first columns are small, since an app may have few devices; further ones are as long as all before, up to this. */
const COLUMN_ROWS_MIN = 256;
const COLUMN_ROWS_MAX = 65_536;

/**
 * Gives out blocks of rows. Thousands of leaves with arrays of their own would lie all over the heap; here a leaf
 * is a place in few arrays, and a block that was given back serves the next leaf of that size.
 */
export class RowPool {
  readonly #freeByCapacity = new Map<number, RowBlock[]>();
  #facts = new Float64Array(0);
  #places = new Float64Array(0);
  #columnRows = 0;
  #usedRows = 0;
  #allRows = 0;

  /** A block for at least so many rows. */
  take(rowsMin: number): RowBlock {
    let capacity = CAPACITY_MIN;
    while (capacity < rowsMin) capacity *= 2;
    return this.#freeByCapacity.get(capacity)?.pop() ?? this.#cut(capacity);
  }

  giveBack(block: RowBlock): void {
    const free = this.#freeByCapacity.get(block.capacity);
    if (free === undefined) this.#freeByCapacity.set(block.capacity, [block]);
    else free.push(block);
  }

  #cut(capacity: number): RowBlock {
    if (this.#usedRows + capacity > this.#columnRows) {
      const rows = Math.max(capacity, COLUMN_ROWS_MIN, Math.min(COLUMN_ROWS_MAX, this.#allRows));
      this.#facts = new Float64Array(rows * FACTS_WIDTH);
      this.#places = new Float64Array(rows * PLACE_WIDTH);
      this.#columnRows = rows;
      this.#usedRows = 0;
      this.#allRows += rows;
    }
    const start = this.#usedRows;
    this.#usedRows += capacity;
    return { facts: this.#facts, places: this.#places, start, capacity };
  }
}
