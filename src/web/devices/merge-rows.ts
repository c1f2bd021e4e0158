type Compare = (rowA: number, rowB: number) => number;

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
