const BYTE_VALUES = 256;

/**
 * The value at a rank, of the first `count` values in ascending order, each counted as often as its weight; without
 * sorting. Values must not be negative: such numbers are ordered like their bytes, so they are selected byte by byte,
 * from the first byte that differs. That takes eight passes at most, even if a million values crowd near 0.
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
    let next = 0;
    for (let index = 0; index < size; index++) {
      const isInBin = bytes[index * BYTES + digit] === bin;
      among.values[next] = among.values[index]!;
      among.weights[next] = among.weights[index]!;
      next += Number(isInBin);
    }
    size = next;
  }
}

const BYTES = Float64Array.BYTES_PER_ELEMENT;

/** The index of the highest byte in which two numbers differ; all numbers between them share the bytes above it. */
function highestOtherByte(a: number, b: number): number {
  const bytes = new Uint8Array(Float64Array.of(a, b).buffer);
  let digit = BYTES - 1;
  while (bytes[digit] === bytes[BYTES + digit]) digit--;
  return digit;
}

/** The least and the greatest of the first `count` values; `count` must not be 0. */
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
