/** Lists of numbers, one after the other, as one. */
export function joinedNumbers(lists: readonly Float64Array[]): Float64Array {
  if (lists.length === 1) return lists[0]!;
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}

/** How many of these sorted numbers are smaller. */
export function countBefore(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether it is among these sorted numbers. */
export function hasNumber(sorted: Float64Array, value: number): boolean {
  return sorted[countBefore(sorted, value)] === value;
}
