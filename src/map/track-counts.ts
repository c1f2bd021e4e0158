import type { Steps } from "../lib/schedule/steps.ts";

/** Columns in a row of keys: twice as many as the finest grid has. */
export const KEYS_PER_ROW = 2 ** 22;
/** How many places of the table a step of a halving visits. */
const STEP_PLACES = 8192;

/**
 * Counts by cell of a square grid of 2^bits columns and rows, like `CellCounts`, for many more cells: a hash table that
 * never grows, since to grow one of 262,144 cells held the event loop for 80 ms. While more cells than allowed have
 * counts, the grid is halved.
 */
export class TrackCounts {
  readonly #cellsMax: number;
  readonly #finestBits: number;
  readonly #tableBits: number;
  /** Random, so that no client can choose cells that all want the same place of the table. */
  readonly #seed = crypto.getRandomValues(new Int32Array(2));
  #bits: number;
  #keys: Float64Array;
  /** 0 where the table is empty. */
  #counts: Uint32Array;
  #size = 0;

  constructor(bits: number, cellsMax: number) {
    this.#finestBits = bits;
    this.#bits = bits;
    this.#cellsMax = cellsMax;
    this.#tableBits = 1 + Math.ceil(Math.log2(cellsMax + SLACK_CELLS)); // At most half full.
    this.#keys = new Float64Array(2 ** this.#tableBits);
    this.#counts = new Uint32Array(2 ** this.#tableBits);
  }

  get bits(): number {
    return this.#bits;
  }

  get size(): number {
    return this.#size;
  }

  /** Counts a cell by its column and row in the initial grid. The caller must call `fit` after 16,384 cells. */
  add(column: number, row: number): void {
    const shift = this.#finestBits - this.#bits;
    this.#count(column >>> shift, row >>> shift, 1);
  }

  /** Halves the grid until it has no more cells than allowed. The caller must not add cells before that is done. */
  *fit(): Steps<void> {
    while (this.#size > this.#cellsMax) {
      const [keys, counts] = [this.#keys, this.#counts];
      this.#keys = new Float64Array(keys.length);
      this.#counts = new Uint32Array(counts.length);
      this.#size = 0;
      this.#bits--;
      for (let place = 0; place < keys.length; place++) {
        if (place % STEP_PLACES === STEP_PLACES - 1) yield;
        if (counts[place] === 0) continue;
        const row = Math.floor(keys[place]! / KEYS_PER_ROW);
        this.#count((keys[place]! % KEYS_PER_ROW) >>> 1, row >>> 1, counts[place]!);
      }
    }
  }

  /** The keys and the counts of all cells, in the same order, which is that of the hash table. */
  *cells(): Steps<{ readonly keys: Float64Array; readonly counts: Uint32Array }> {
    const [keys, counts] = [new Float64Array(this.#size), new Uint32Array(this.#size)];
    for (let place = 0, cell = 0; place < this.#keys.length; place++) {
      if (place % STEP_PLACES === STEP_PLACES - 1) yield;
      if (this.#counts[place] === 0) continue;
      keys[cell] = this.#keys[place]!;
      counts[cell++] = this.#counts[place]!;
    }
    return { keys, counts };
  }

  #count(column: number, row: number, count: number): void {
    const [keys, counts] = [this.#keys, this.#counts];
    const key = row * KEYS_PER_ROW + column;
    let place = hashOf(column ^ this.#seed[0]!, row ^ this.#seed[1]!) >>> (32 - this.#tableBits);
    while (counts[place] !== 0 && keys[place] !== key) place = (place + 1) % keys.length;
    if (counts[place] === 0) this.#size++;
    keys[place] = key;
    counts[place]! += count;
  }
}

/** More cells than allowed may come before `fit`. */
const SLACK_CELLS = 16_384;

/** Mixes two 32-bit numbers with the finalizer of MurmurHash3 (public domain), after each of them. */
function hashOf(a: number, b: number): number {
  return mixed(mixed(a) ^ b);
}

function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
