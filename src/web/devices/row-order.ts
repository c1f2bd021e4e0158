import { mergedRows } from "./merge-rows.ts";

/**
 * Rows in the order of a number each, which changes for few of them at a time: those are taken out, sorted and merged
 * in again, within a frame, where to sort 200,000 rows takes eight frames.
 */
export class RowOrder {
  #keys = new Float64Array(0);
  #rows = new Uint32Array(0);

  /** All rows below `size`, least key first, equal ones by row. What is returned stays as it is. No key is NaN. */
  refresh(size: number, keyOf: (row: number) => number): Uint32Array<ArrayBuffer> {
    const known = this.#rows.length;
    if (size > this.#keys.length) this.#grow(size);
    const keys = this.#keys;
    const isMoved = new Uint8Array(size);
    const moved: number[] = [];
    for (let row = 0; row < size; row++) {
      const key = keyOf(row);
      if (row < known && keys[row] === key) continue;
      keys[row] = key;
      isMoved[row] = 1;
      moved.push(row);
    }
    if (moved.length === 0) return this.#rows;
    const compare = (rowA: number, rowB: number) => keys[rowA]! - keys[rowB]! || rowA - rowB;
    this.#rows = mergedRows(without(this.#rows, isMoved), moved.sort(compare), compare);
    return this.#rows;
  }

  /** Forgets the rows: the next ones are others, or have another order. */
  clear(): void {
    this.#rows = new Uint32Array(0);
  }

  #grow(size: number): void {
    const keys = new Float64Array(size + (size >> 1));
    keys.set(this.#keys);
    this.#keys = keys;
  }
}

/** The rows but for those that have a 1. */
function without(rows: Uint32Array, isOut: Uint8Array): Uint32Array {
  const left = new Uint32Array(rows.length);
  let count = 0;
  for (const row of rows) if (isOut[row] === 0) left[count++] = row;
  return left.subarray(0, count);
}
