/**
 * Tests whether two lists of measurements may come from the same distribution: the test of Wilcoxon, Mann and Whitney.
 * It compares only ranks, so an outlier weighs no more than its rank, and no distribution is assumed.
 *
 * H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is stochastically larger than the
 * other", Annals of Mathematical Statistics 18 (1947). Exact values, also with ties, by the shift algorithm of B.
 * Streitberg, J. Röhmel, "Exact distributions for permutation and rank tests", Statistical Software Newsletter 12
 * (1986).
 */

/** Up to this number the distribution is exact; above, the normal approximation is good enough. */
const EXACT_VALUES_MAX = 50;

/** The probability that ranks differ at least this much, in either direction, by chance alone. */
export function chanceOfDifference(a: readonly number[], b: readonly number[]): number {
  const ranks = doubledRanks([...a, ...b]);
  const sum = ranks.slice(0, a.length).reduce((total, rank) => total + rank, 0);
  if (ranks.length <= EXACT_VALUES_MAX) return exactChance(ranks, a.length, sum);
  return normalChance(ranks, a.length, sum);
}

/** The smallest possible probability for lists of these lengths: all values of one before all of the other. */
export function smallestChance(countA: number, countB: number): number {
  let ways = 1;
  for (let index = 1; index <= countA; index++) ways = (ways * (countB + index)) / index;
  return Math.min(1, 2 / ways);
}

/** Twice the rank of each value, from 2 on, so that shared ranks are integers. */
function doubledRanks(values: readonly number[]): number[] {
  return values.map((value) => {
    let below = 0;
    let equal = 0;
    for (const other of values) {
      if (other < value) below++;
      else if (other === value) equal++;
    }
    return 2 * below + equal + 1;
  });
}

/** Counts, for every sum, the ways to choose that many ranks, adding one rank after another. */
function exactChance(ranks: readonly number[], chosen: number, sum: number): number {
  const total = ranks.reduce((all, rank) => all + rank, 0);
  const ways = Array.from({ length: chosen + 1 }, () => new Float64Array(total + 1));
  ways[0]![0] = 1;
  for (const rank of ranks) {
    for (let count = chosen; count > 0; count--) {
      const [from, to] = [ways[count - 1]!, ways[count]!];
      for (let of = rank; of <= total; of++) to[of]! += from[of - rank]!;
    }
  }
  const expected = (total * chosen) / ranks.length;
  const distance = Math.abs(sum - expected);
  let all = 0;
  let asFar = 0;
  ways[chosen]!.forEach((count, of) => {
    all += count;
    if (Math.abs(of - expected) >= distance - 1e-9) asFar += count; // Integers except for rounding above.
  });
  return asFar / all;
}

/** Approximates the probability by mean and variance of the sum, with corrections for ties and continuity. */
function normalChance(ranks: readonly number[], chosen: number, sum: number): number {
  const count = ranks.length;
  const mean = (ranks.reduce((all, rank) => all + rank, 0) * chosen) / count;
  const spread = ranks.reduce((all, rank) => all + (rank - mean / chosen) ** 2, 0);
  const variance = (spread * chosen * (count - chosen)) / (count * (count - 1));
  if (variance === 0) return 1; // All values are equal.
  const distance = Math.max(0, Math.abs(sum - mean) - 1); // Ranks are doubled, so the correction of a half is too.
  return Math.min(1, 2 * upperTail(distance / Math.sqrt(variance)));
}

/** The share of a normal distribution above `z`: Abramowitz and Stegun, 26.2.17, with an error below 1e-7. */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const polynomial =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
