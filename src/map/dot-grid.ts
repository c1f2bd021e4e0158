import type { Steps } from "../lib/schedule/steps.ts";
import { CellCounts } from "./cell-counts.ts";
import { BUFFER } from "./tile.ts";

/** Dots that are nearer to each other than this, in units, are drawn as one: a quarter of a pixel of 256. */
const CELL_UNITS = 4;
const CELL_BITS = Math.log2(CELL_UNITS);
/** For all of a tile and its buffer. */
const GRID_BITS = 11;
/** Cells of 64 units, as wide as the buffer, are 66 x 66 at most. So the buffer always has whole cells. */
export const FEATURES_MAX = 5000;

/** A dot of a tile: a device, in one of the worlds beside each other. */
export interface Dot {
  readonly device: number;
  readonly world: number;
}

/**
 * The dots of a tile and its buffer, by cells of 4 units, or of up to 64 where more are taken: how many are in each,
 * and the one that is shown for them.
 */
export class DotGrid {
  readonly #cells = new CellCounts(GRID_BITS, FEATURES_MAX);
  readonly #isBefore: (device: number, other: number) => boolean;
  #shown: Dot[] = [];

  /** Of two devices in a cell, which one is shown. */
  constructor(isBefore: (device: number, other: number) => boolean) {
    this.#isBefore = isBefore;
  }

  /** In units of the tile. */
  add(x: number, y: number, device: number, world: number): void {
    const cell = this.#cells.add(cellOf(x), cellOf(y));
    const other = this.#shown[cell];
    if (other === undefined || this.#isBefore(device, other.device)) this.#shown[cell] = { device, world };
  }

  /** Has to be done after each few thousand. */
  *settle(): Steps<void> {
    let before = this.#shown;
    yield* this.#cells.settle((from, to) => {
      if (from === 0) {
        before = this.#shown;
        this.#shown = [];
      }
      const other = this.#shown[to];
      const dot = before[from]!;
      if (other === undefined || this.#isBefore(dot.device, other.device)) this.#shown[to] = dot;
    });
  }

  get size(): number {
    return this.#cells.size;
  }

  countOf(cell: number): number {
    return this.#cells.countOf(cell);
  }

  shownOf(cell: number): Dot {
    return this.#shown[cell]!;
  }
}

function cellOf(unit: number): number {
  return (Math.floor(unit) + BUFFER) >>> CELL_BITS;
}
