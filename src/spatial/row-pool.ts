import { assert } from "../lib/assert.ts";
import { makePageRoom } from "../lib/tables/columns.ts";
import { PAGE_MASK, PAGE_SHIFT } from "../lib/tables/number-pool.ts";

/** Columns that many leaves share. */
export interface RowColumns {
  readonly times: Float64Array;
  readonly accuracies: Float64Array;
  /** `POINT.width` cells per row. */
  readonly points: Float64Array;
  /**
   * The rows of a block that are holes, in no order. It has half as many entries as rows; a block's begin at half its
   * start.
   */
  readonly holes: Uint16Array;
  readonly rows: number;
  /** Rows from this one on belong to no block. */
  begun: number;
  /** Rows of blocks in use. */
  usedRows: number;
}

/** A run of rows for one leaf. */
export interface RowBlock {
  readonly columns: RowColumns;
  /** The first row, an even number. */
  readonly start: number;
  readonly capacity: number;
}

/** A point of the unit sphere and the number of its device. */
export const POINT = { x: 0, y: 1, z: 2, device: 3, width: 4 } as const;

const CAPACITY_MIN = 4; // Capacities are even.
/**
 * The first columns are small, since an app may have few devices. Later ones are as long as all before them, up to
 * this.
 */
const COLUMN_ROWS_MIN = 16;
const COLUMN_ROWS_MAX = 8192;

/** Blocks of one capacity. */
interface BlockSize {
  /** The columns that new blocks are cut from. */
  columns: RowColumns;
  /** Blocks that were returned. */
  free: RowBlock[];
  /** Rows of all columns of this size. */
  allRows: number;
}

/**
 * Allocates blocks of rows for leaves. Arrays per leaf would scatter thousands of leaves over the heap; here a leaf is
 * a run in a few arrays, and a returned block serves the next leaf of that size. The leaves of a growing fleet reach
 * the next size at about the same time, so each size has columns of its own, which are freed once all their blocks are
 * back.
 */
export class RowPool {
  readonly #sizes = new Map<number, BlockSize>();

  /** A block of at least `rowsMin` rows. */
  take(rowsMin: number): RowBlock {
    const capacity = capacityFor(rowsMin);
    let size = this.#sizes.get(capacity);
    if (size === undefined) {
      size = { columns: createColumns(0), free: [], allRows: 0 };
      this.#sizes.set(capacity, size);
    }
    const block = size.free.pop() ?? cut(size, capacity);
    block.columns.usedRows += capacity;
    return block;
  }

  giveBack(block: RowBlock): void {
    const { columns, capacity } = block;
    assert(capacity >= CAPACITY_MIN, "a leaf returns a block that it has");
    const size = this.#sizes.get(capacity)!;
    columns.usedRows -= capacity;
    if (columns.usedRows > 0) {
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

export function createColumns(rows: number): RowColumns {
  return {
    times: new Float64Array(rows),
    accuracies: new Float64Array(rows),
    points: new Float64Array(rows * POINT.width),
    holes: new Uint16Array(rows >>> 1),
    rows,
    begun: 0,
    usedRows: 0,
  };
}

/** A power of two, or 5/4, 6/4 or 7/4 of one. In integers, or else the engine computes row numbers as doubles. */
function capacityFor(rowsMin: number): number {
  let power = CAPACITY_MIN;
  while (power << 1 < rowsMin) power <<= 1;
  const step = Math.max(2, power >>> 2);
  let capacity = power;
  while (capacity < rowsMin) capacity += step;
  return capacity;
}

/** A row number within a leaf, holes included, has ten bits. */
export const ROW_BITS = 10;
export const ROW_MASK = 2 ** ROW_BITS - 1;
/** A row address is one number: the leaf's among all cells, and a row of it. */
export const CELLS_MAX = 2 ** (32 - ROW_BITS) - 1;
/** The address of a device that is not in the index. */
export const NO_ADDRESS = -1;

/**
 * The leaf of each device and a row there, by device number. Inserts may move the row back without an update here, so
 * the row is searched for from its address on.
 */
export class RowAddresses {
  readonly #pages: Int32Array[] = [];

  of(device: number): number {
    const page = this.#pages[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    return page !== undefined && at < page.length ? page[at]! : NO_ADDRESS;
  }

  set(device: number, cell: number, row: number): void {
    let page = this.#pages[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    if (page === undefined || at >= page.length) page = makePageRoom(this.#pages, device, createPage);
    page[at] = (cell << ROW_BITS) | row;
  }

  clear(device: number): void {
    this.#pages[device >>> PAGE_SHIFT]![device & PAGE_MASK] = NO_ADDRESS;
  }
}

function createPage(length: number): Int32Array {
  return new Int32Array(length).fill(NO_ADDRESS);
}
