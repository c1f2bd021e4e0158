/** Selection of a value by its rank, without sorting. */

const BYTE_VALUES = 256;

/**
 * Of the first `count` values in ascending order, each as often as it weighs, the one of a rank. None may be below 0:
 * such numbers are in the order of their bytes, so they are told apart by these, from the first that differs on. That
 * takes eight passes at most, also of a million that lie the closer together, the nearer they are to 0.
 */
export function orderStatistic(
  values: Float64Array,
  weights: Uint32Array,
  count: number,
  rank: number,
): number {
  const among = { values: values.slice(0, count), weights: weights.slice(0, count) };
  const bytes = new Uint8Array(among.values.buffer);
  const binWeights = new Float64Array(BYTE_VALUES);
  let size = count;
  let before = 0;
  for (;;) {
    const { least, most } = rangeOf(among.values, size);
    if (least === most) return least;
    const digit = highestOtherByte(least, most);
    binWeights.fill(0);
    for (let index = 0; index < size; index++)
      binWeights[bytes[index * BYTES + digit]!]! += among.weights[index]!;
    let bin = 0;
    while (before + binWeights[bin]! <= rank) before += binWeights[bin++]!;
    let kept = 0;
    for (let index = 0; index < size; index++) {
      const isInBin = bytes[index * BYTES + digit] === bin;
      among.values[kept] = among.values[index]!;
      among.weights[kept] = among.weights[index]!;
      kept += Number(isInBin);
    }
    size = kept;
  }
}

const BYTES = Float64Array.BYTES_PER_ELEMENT;

/** The last byte is the highest. All numbers between the two have the same bytes above it. */
function highestOtherByte(a: number, b: number): number {
  const bytes = new Uint8Array(Float64Array.of(a, b).buffer);
  let digit = BYTES - 1;
  while (bytes[digit] === bytes[BYTES + digit]) digit--;
  return digit;
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
