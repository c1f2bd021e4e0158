import { assert } from "../lib/assert.ts";
import { makePageRoom } from "../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_SHIFT } from "../lib/tables/number-pool.ts";

/** The memory that rows of leaves lie in, and which row of which leaf a device has. */

/** Columns that many leaves share. */
export interface RowColumns {
  /** In milliseconds. */
  readonly times: Float64Array;
  /** In meters. */
  readonly accuracies: Float64Array;
  /** `POINT` columns a row. */
  readonly points: Float64Array;
  /** Numbers of rows of a block that are holes, in no order: half as many as rows, from half its `start` on. */
  readonly holes: Uint16Array;
  readonly rows: number;
  /** Rows from this one on are in no block. */
  begun: number;
  /** Rows of blocks that are out. */
  taken: number;
}

/** A run of rows for one leaf. */
export interface RowBlock {
  readonly columns: RowColumns;
  /** Where its rows begin, counted in rows: an even number. */
  readonly start: number;
  readonly capacity: number;
}

/** A point of a sphere of radius 1, and whose it is. */
export const POINT = { x: 0, y: 1, z: 2, device: 3, width: 4 } as const;

const CAPACITY_MIN = 4; // Capacities are even.
/** The first columns are small, since an app may have few devices; others are as long as all before, up to this. */
const COLUMN_ROWS_MIN = 16;
const COLUMN_ROWS_MAX = 8192;

/** Blocks of one capacity. */
interface BlockSize {
  /** What blocks are cut from. */
  columns: RowColumns;
  /** Those that were given back. */
  free: RowBlock[];
  /** Of all columns that it has. */
  allRows: number;
}

/**
 * Gives out blocks of rows. Thousands of leaves with arrays of their own would lie all over the heap; here a leaf
 * is a run in few arrays, and a block that was given back serves the next leaf of that size. Leaves of a fleet that
 * grows come to the next size at about the same time: each size has columns of its own, and those whose blocks are all
 * back are gone.
 */
export class RowPool {
  readonly #sizes = new Map<number, BlockSize>();

  /** A block for at least so many rows. */
  take(rowsMin: number): RowBlock {
    const capacity = capacityFor(rowsMin);
    let size = this.#sizes.get(capacity);
    if (size === undefined) {
      size = { columns: createColumns(0), free: [], allRows: 0 };
      this.#sizes.set(capacity, size);
    }
    const block = size.free.pop() ?? cut(size, capacity);
    block.columns.taken += capacity;
    return block;
  }

  giveBack(block: RowBlock): void {
    const { columns, capacity } = block;
    assert(capacity >= CAPACITY_MIN, "a leaf gives back rows that it holds");
    const size = this.#sizes.get(capacity)!;
    columns.taken -= capacity;
    if (columns.taken > 0) {
      size.free.push(block);
      return;
    }
    size.free = size.free.filter((free) => free.columns !== columns);
    if (columns === size.columns) columns.begun = 0;
    else size.allRows -= columns.rows;
  }
}

function cut(size: BlockSize, capacity: number): RowBlock {
  if (size.columns.begun + capacity > size.columns.rows) {
    const rows = Math.max(capacity, COLUMN_ROWS_MIN, Math.min(COLUMN_ROWS_MAX, size.allRows));
    size.columns = createColumns(rows);
    size.allRows += rows;
  }
  const { columns } = size;
  const block = { columns, start: columns.begun, capacity };
  columns.begun += capacity;
  return block;
}

/** Columns of so many rows, none of them in a block. */
export function createColumns(rows: number): RowColumns {
  return {
    times: new Float64Array(rows),
    accuracies: new Float64Array(rows),
    points: new Float64Array(rows * POINT.width),
    holes: new Uint16Array(rows >>> 1),
    rows,
    begun: 0,
    taken: 0,
  };
}

/** A power of two, or one, two or three fourths more. In whole numbers: else the engine reckons rows in doubles. */
function capacityFor(rowsMin: number): number {
  let power = CAPACITY_MIN;
  while (power << 1 < rowsMin) power <<= 1;
  const step = Math.max(2, power >>> 2);
  let capacity = power;
  while (capacity < rowsMin) capacity += step;
  return capacity;
}

/** The number of a row of a leaf, which may have holes beside its positions, has ten bits. */
export const ROW_BITS = 10;
export const ROW_MASK = 2 ** ROW_BITS - 1;
/** A place is one number: the leaf's among all cells, and a row of it. */
export const CELLS_MAX = 2 ** (32 - ROW_BITS) - 1;
/** The place of a device that was not added. */
export const NO_PLACE = -1;

/**
 * By device number, its leaf and a row there. Rows that come between make its true row a later one, which is not noted:
 * the row is looked for from here on.
 */
export class DevicePlaces {
  readonly #pages: Int32Array[] = [];

  of(device: number): number {
    const page = this.#pages[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    return page !== undefined && at < page.length ? page[at]! : NO_PLACE;
  }

  set(device: number, cell: number, row: number): void {
    let page = this.#pages[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    if (page === undefined || at >= page.length) page = makePageRoom(this.#pages, device, createPage);
    page[at] = (cell << ROW_BITS) | row;
  }

  clear(device: number): void {
    this.#pages[device >>> PAGE_SHIFT]![device & PAGE_MASK] = NO_PLACE;
  }
}

function createPage(length: number): Int32Array {
  return new Int32Array(length).fill(NO_PLACE);
}
