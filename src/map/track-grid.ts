import { type Steps, sortInSteps } from "../lib/schedule/steps.ts";
import type { Tile } from "./tile.ts";
import { KEYS_PER_ROW, type TrackCounts } from "./track-counts.ts";

const STEP_CELLS = 4096;

/** A part of a map tile: counts by row, then column. */
export interface TileCounts {
  /** The tile is 2^bits cells wide. */
  readonly bits: number;
  readonly counts: Uint32Array;
}

/** Counts by cell of a square grid that no longer change, in order, so that those of a tile are found at once. */
export class TrackGrid {
  /** The world is 2^bits cells wide. */
  readonly bits: number;
  readonly #keys: Float64Array;
  readonly #counts: Uint32Array;

  private constructor(bits: number, keys: Float64Array, counts: Uint32Array) {
    this.bits = bits;
    this.#keys = keys;
    this.#counts = counts;
  }

  static *of(cells: TrackCounts): Steps<TrackGrid> {
    const { keys, counts } = yield* cells.cells();
    const numbers = new Array<number>(keys.length);
    for (let cell = 0; cell < keys.length; cell++) {
      numbers[cell] = cell;
      if (cell % STEP_CELLS === STEP_CELLS - 1) yield;
    }
    const order = yield* sortInSteps(numbers, (a, b) => keys[a]! - keys[b]!);
    const [keysInOrder, countsInOrder] = [new Float64Array(keys.length), new Uint32Array(keys.length)];
    for (let place = 0; place < keys.length; place++) {
      keysInOrder[place] = keys[order[place]!]!;
      countsInOrder[place] = counts[order[place]!]!;
      if (place % STEP_CELLS === STEP_CELLS - 1) yield;
    }
    return new TrackGrid(cells.bits, keysInOrder, countsInOrder);
  }

  /** The counts of a tile in at most 2^bitsMax columns and rows; null if its cells would be wider than the tile. */
  *countsIn({ z, x, y }: Tile, bitsMax: number): Steps<TileCounts | null> {
    const bits = Math.min(bitsMax, this.bits - z);
    if (bits < 0) return null;
    const side = 2 ** (this.bits - z);
    const shift = this.bits - z - bits;
    const [west, north] = [x * side, y * side];
    const counts = new Uint32Array(4 ** bits);
    for (let at = this.#find(north, west), steps = 1; at < this.#keys.length; steps++) {
      if (steps % STEP_CELLS === 0) yield;
      const row = Math.floor(this.#keys[at]! / KEYS_PER_ROW);
      const column = this.#keys[at]! % KEYS_PER_ROW;
      if (row >= north + side) break;
      // Cells beside the tile are skipped, however many a row has.
      if (column < west) at = this.#find(row, west);
      else if (column >= west + side) at = this.#find(row + 1, west);
      else counts[((row - north) >> shift) * 2 ** bits + ((column - west) >> shift)]! += this.#counts[at++]!;
    }
    return { bits, counts };
  }

  /** The first cell that is not before this one. */
  #find(row: number, column: number): number {
    const key = row * KEYS_PER_ROW + column;
    let [from, to] = [0, this.#keys.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#keys[middle]! < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
