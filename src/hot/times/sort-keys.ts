import type { Steps } from "../../lib/schedule/steps.ts";

/** Merged between two steps: some tens of microseconds. */
const STEP_KEYS = 8192;

/**
 * All keys of sorted runs in order, in steps. The runs are taken out of the list as they are merged, so that there are
 * never more than twice as many keys in memory as there are.
 */
export function* mergeRuns(runs: Float64Array[]): Steps<Float64Array> {
  while (runs.length > 1) runs.push(yield* merge(runs.shift()!, runs.shift()!));
  return runs[0] ?? new Float64Array(0);
}

function* merge(a: Float64Array, b: Float64Array): Steps<Float64Array> {
  const merged = new Float64Array(a.length + b.length);
  let [i, j] = [0, 0];
  while (i + j < merged.length) {
    for (const end = Math.min(merged.length, i + j + STEP_KEYS); i + j < end; ) {
      const takesFirst = j === b.length || (i < a.length && a[i]! <= b[j]!);
      merged[i + j] = takesFirst ? a[i]! : b[j]!;
      if (takesFirst) i++;
      else j++;
    }
    yield;
  }
  return merged;
}
