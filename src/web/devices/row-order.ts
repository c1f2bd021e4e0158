type Compare = (rowA: number, rowB: number) => number;

/**
 * Rows in the order of a number each, which changes for few of them at a time: those are taken out, sorted and merged
 * in again, within a frame, where to sort 200,000 rows takes eight frames.
 */
export class RowOrder {
  #keys = new Float64Array(0);
  #rows = new Uint32Array(0);
  /** Room to work in, as long as the keys: made anew each second, it would be a burden. All zeros between two calls. */
  #isMoved = new Uint8Array(0);
  #staying = new Uint32Array(0);

  /** All rows below `size`, least key first, equal ones by row. What is returned stays as it is. No key is NaN. */
  refresh(size: number, keyOf: (row: number) => number): Uint32Array<ArrayBuffer> {
    const known = this.#rows.length;
    if (size > this.#keys.length) this.#grow(size);
    const keys = this.#keys;
    const moved: number[] = [];
    for (let row = 0; row < size; row++) {
      const key = keyOf(row);
      if (row < known && keys[row] === key) continue;
      keys[row] = key;
      moved.push(row);
    }
    if (moved.length === 0) return this.#rows;
    const compare = (rowA: number, rowB: number) => keys[rowA]! - keys[rowB]! || rowA - rowB;
    this.#rows = mergedRows(this.#without(moved), moved.sort(compare), compare);
    return this.#rows;
  }

  /** Forgets the rows: the next ones are others, or have another order. */
  clear(): void {
    this.#rows = new Uint32Array(0);
  }

  #without(moved: readonly number[]): Uint32Array {
    const isMoved = this.#isMoved;
    const staying = this.#staying;
    for (const row of moved) isMoved[row] = 1;
    let count = 0;
    for (const row of this.#rows) if (isMoved[row] === 0) staying[count++] = row;
    for (const row of moved) isMoved[row] = 0;
    return staying.subarray(0, count);
  }

  #grow(size: number): void {
    const room = size + (size >> 1);
    const keys = new Float64Array(room);
    keys.set(this.#keys);
    this.#keys = keys;
    this.#isMoved = new Uint8Array(room);
    this.#staying = new Uint32Array(room);
  }
}

/** Many sorted rows and a few others as one list, by as few comparisons as can be; no two rows are equal. */
export function mergedRows(
  many: Uint32Array,
  few: readonly number[],
  compare: Compare,
): Uint32Array<ArrayBuffer> {
  if (many.length === 0) return Uint32Array.from(few); // At first all of them are few.
  const merged = new Uint32Array(many.length + few.length);
  let taken = 0;
  for (const [index, row] of few.entries()) {
    const place = placeOf(row, many, taken, compare);
    merged.set(many.subarray(taken, place), taken + index);
    merged[place + index] = row;
    taken = place;
  }
  merged.set(many.subarray(taken), taken + few.length);
  return merged;
}

/** The index of the first of the rows, from `start` on, that comes behind this one. */
function placeOf(row: number, rows: Uint32Array, start: number, compare: Compare): number {
  let low = start;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(rows[middle]!, row) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
