import type { Steps } from "../lib/schedule/steps.ts";
import { grown } from "../lib/tables/columns.ts";
import { createTupleSet, type TupleSet } from "../lib/tables/tuple-set.ts";

const COUNTS_INITIAL = 64;

/** How many cells a step of a halving moves: about 0.2 ms. */
const STEP_CELLS = 4096;

/**
 * Counts by cell of a square grid of 2^bits columns and rows. While more cells than allowed have counts, the grid is
 * halved. So memory is bounded however far apart the cells lie, and the grid is the finest that they fit into, whatever
 * their order.
 */
export class CellCounts {
  readonly #cellsMax: number;
  readonly #finestBits: number;
  #bits: number;
  #cells: TupleSet = createTupleSet(2);
  #counts = new Float64Array(COUNTS_INITIAL);
  #size = 0;
  readonly #cell = new Uint32Array(2);

  constructor(bits: number, cellsMax: number) {
    this.#finestBits = bits;
    this.#bits = bits;
    this.#cellsMax = cellsMax;
  }

  /** The bits of the current grid. */
  get bits(): number {
    return this.#bits;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Counts a cell by its column and row in the initial grid. Returns the number of the cell, which is valid until the
   * grid is halved. The caller must call `fit` after a few thousand cells.
   */
  add(column: number, row: number): number {
    const shift = this.#finestBits - this.#bits;
    return this.#count(column >>> shift, row >>> shift, 1);
  }

  /**
   * Halves the grid until it has no more cells than allowed. The caller must not add cells before that is done. Calls
   * `join` for every old cell and its new one, one halving after the other.
   */
  *fit(join: (from: number, to: number) => void = () => {}): Steps<void> {
    while (this.#size > this.#cellsMax) yield* this.#halve(join);
  }

  /** Cells have numbers from 0 to `size` - 1. */
  columnOf(cell: number): number {
    return this.#cells.at(cell, 0);
  }

  rowOf(cell: number): number {
    return this.#cells.at(cell, 1);
  }

  countOf(cell: number): number {
    return this.#counts[cell]!;
  }

  #count(column: number, row: number, count: number): number {
    this.#cell[0] = column;
    this.#cell[1] = row;
    const cell = this.#cells.add(this.#cell);
    if (cell === this.#size) {
      this.#size++;
      if (cell === this.#counts.length) this.#counts = grown(this.#counts);
    }
    this.#counts[cell]! += count;
    return cell;
  }

  *#halve(join: (from: number, to: number) => void): Steps<void> {
    const [cells, counts, size] = [this.#cells, this.#counts, this.#size];
    this.#bits--;
    this.#cells = createTupleSet(2);
    this.#counts = new Float64Array(COUNTS_INITIAL);
    this.#size = 0;
    for (let cell = 0; cell < size; cell++) {
      join(cell, this.#count(cells.at(cell, 0) >>> 1, cells.at(cell, 1) >>> 1, counts[cell]!));
      if (cell % STEP_CELLS === STEP_CELLS - 1) yield;
    }
  }
}
