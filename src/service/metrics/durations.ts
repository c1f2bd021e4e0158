/**
 * How long things took, counted in buckets as Prometheus' histograms are. Counting is a few instructions: of a short
 * answer's time, a histogram of the client library takes 2 %.
 */
export class Durations {
  /** Upper bounds of the buckets in seconds, rising; what is longer is counted behind the last. */
  readonly boundsSeconds: readonly number[];
  /** Of each bucket alone, and last of what exceeds all bounds. */
  readonly counts: Float64Array;
  sumSeconds = 0;

  constructor(boundsSeconds: readonly number[]) {
    this.boundsSeconds = boundsSeconds;
    this.counts = new Float64Array(boundsSeconds.length + 1);
  }

  add(durationMs: number): void {
    const seconds = durationMs / 1000;
    const bounds = this.boundsSeconds;
    let bucket = 0;
    while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sumSeconds += seconds;
  }
}

/** From a page out of memory to a query of the archive that takes its time. */
export const ANSWER_BOUNDS_SECONDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** From a disk with a cache of its own to one that is about to fail. */
export const SYNC_BOUNDS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export const SEAL_BOUNDS_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

/** A timer that is on time within a millisecond or two is as good as it gets. */
export const DELAY_BOUNDS_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
