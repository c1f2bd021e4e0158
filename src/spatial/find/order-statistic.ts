/** Selection of a value by its rank, without sorting. */

const BINS = 4096;

/**
 * Of the first `count` values in ascending order, each as often as it weighs, the one of a rank. Counts them by bins of
 * their range, then those of its bin alone, and so on: some passes, however a million are spread.
 */
export function orderStatistic(
  values: Float64Array,
  weights: Uint32Array,
  count: number,
  rank: number,
): number {
  const binWeights = new Float64Array(BINS);
  let among = { values, weights };
  let size = count;
  let before = 0;
  for (;;) {
    const { values, weights } = among;
    const { least, most } = rangeOf(values, size);
    if (least === most) return least;
    const width = most - least; // Divided by, since 1 over the smallest of numbers is none.
    binWeights.fill(0);
    for (let index = 0; index < size; index++)
      binWeights[(((values[index]! - least) / width) * (BINS - 1)) | 0]! += weights[index]!;
    let bin = 0;
    while (before + binWeights[bin]! <= rank) before += binWeights[bin++]!;
    const inBin = { values: new Float64Array(size), weights: new Uint32Array(size) };
    let kept = 0;
    for (let index = 0; index < size; index++) {
      inBin.values[kept] = values[index]!;
      inBin.weights[kept] = weights[index]!;
      kept += Number(((((values[index]! - least) / width) * (BINS - 1)) | 0) === bin);
    }
    among = inBin;
    size = kept;
  }
}

/** Of the first `count`, at least one. */
export function rangeOf(values: Float64Array, count: number): { least: number; most: number } {
  let least = values[0]!;
  let most = least;
  for (let index = 1; index < count; index++) {
    const value = values[index]!;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return { least, most };
}
