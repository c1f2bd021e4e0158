/** What happened in a run, or in many. */
export interface RunTotals {
  steps: number;
  operations: number;
  batches: number;
  acknowledged: number;
  /** Batches that held a whole frame of the log. */
  forgeries: number;
  refused: number;
  starts: number;
  powerFailures: number;
  kills: number;
  faults: number;
  flips: number;
  clockTurns: number;
  seals: number;
  failedSeals: number;
  backups: number;
  /** Comparisons of all that the service answers with the model. */
  checks: number;
  records: number;
}

export function noTotals(): RunTotals {
  return {
    steps: 0,
    operations: 0,
    batches: 0,
    acknowledged: 0,
    forgeries: 0,
    refused: 0,
    starts: 0,
    powerFailures: 0,
    kills: 0,
    faults: 0,
    flips: 0,
    clockTurns: 0,
    seals: 0,
    failedSeals: 0,
    backups: 0,
    checks: 0,
    records: 0,
  };
}

export function addTotals(sum: RunTotals, more: RunTotals): void {
  for (const name of Object.keys(sum) as (keyof RunTotals)[]) sum[name] += more[name];
}

/** A run that ended as it must not. Its message says what was expected and what was found. */
export class RunFailure extends Error {
  override readonly name = "RunFailure";
  readonly seed: number;
  /** What happened in it, step by step. */
  readonly story: readonly string[];

  constructor(seed: number, reason: string, story: readonly string[], cause?: unknown) {
    super(`run ${seed}: ${reason}`, { cause });
    this.seed = seed;
    this.story = story;
  }
}
