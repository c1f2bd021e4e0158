import type { Steps } from "../lib/schedule/steps.ts";
import { grown } from "../lib/tables/columns.ts";
import { createTupleSet, type TupleSet } from "../lib/tables/tuple-set.ts";

const COUNTS_INITIAL = 64;

/** What a step may halve: some 0.2 ms. */
const STEP_CELLS = 4096;

/**
 * Counts by cell of a square grid of 2^bits columns and rows, which is halved while more cells than may be are taken.
 * So memory is bounded however far apart they lie, and the grid is the finest that all fit into, whatever their
 * order.
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

  /** Of the grid as it is by now. */
  get bits(): number {
    return this.#bits;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Column and row are those of the grid as it was at first. Returns the number of the cell, which is good until the
   * grid is halved. After some thousand at most, `settle` has to be done.
   */
  add(column: number, row: number): number {
    const shift = this.#finestBits - this.#bits;
    return this.#count(column >>> shift, row >>> shift, 1);
  }

  /**
   * Halves the grid until no more cells are taken than may be; in between nothing may be added. Tells which cell became
   * a part of which, all of one grid before those of the next.
   */
  *settle(join: (from: number, to: number) => void = () => {}): Steps<void> {
    while (this.#size > this.#cellsMax) yield* this.#halve(join);
  }

  /** Of a cell by its number, from 0 to before `size`. */
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
