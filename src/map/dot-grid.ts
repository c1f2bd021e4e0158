import type { Steps } from "../lib/schedule/steps.ts";
import { CellCounts } from "./cell-counts.ts";
import { BUFFER } from "./tile.ts";

/** Dots that share a cell of this width, a quarter of a pixel of 256, are drawn as one. */
const CELL_UNITS = 4;
const CELL_BITS = Math.log2(CELL_UNITS);
/** The grid covers a tile and its buffer. */
const GRID_BITS = 11;
/** At the coarsest, with 66 x 66 cells of 64 units, a cell is as wide as the buffer, so the buffer has whole cells. */
export const FEATURES_MAX = 5000;

/** A dot of a tile: a device, in one of the copies of the world. */
export interface Dot {
  readonly device: number;
  readonly world: number;
}

/**
 * The dots of a tile and its buffer, by cells of 4 units, or of up to 64 if there are more dots: the count of each
 * cell, and the dot that represents it.
 */
export class DotGrid {
  readonly #cells = new CellCounts(GRID_BITS, FEATURES_MAX);
  readonly #isBefore: (device: number, other: number) => boolean;
  #dots: Dot[] = [];

  /** `isBefore` decides which of two devices represents a cell. */
  constructor(isBefore: (device: number, other: number) => boolean) {
    this.#isBefore = isBefore;
  }

  /** Adds a dot at a position in units of the tile. */
  add(x: number, y: number, device: number, world: number): void {
    const cell = this.#cells.add(cellOf(x), cellOf(y));
    const other = this.#dots[cell];
    if (other === undefined || this.#isBefore(device, other.device)) this.#dots[cell] = { device, world };
  }

  /** Makes the cells coarser if there are too many. The caller must call this after a few thousand dots. */
  *fit(): Steps<void> {
    let before = this.#dots;
    yield* this.#cells.fit((from, to) => {
      if (from === 0) {
        before = this.#dots;
        this.#dots = [];
      }
      const other = this.#dots[to];
      const dot = before[from]!;
      if (other === undefined || this.#isBefore(dot.device, other.device)) this.#dots[to] = dot;
    });
  }

  get size(): number {
    return this.#cells.size;
  }

  countOf(cell: number): number {
    return this.#cells.countOf(cell);
  }

  dotOf(cell: number): Dot {
    return this.#dots[cell]!;
  }
}

function cellOf(unit: number): number {
  return (Math.floor(unit) + BUFFER) >>> CELL_BITS;
}
