import { openSimulationEngine, type SimulationEngine } from "./engine.ts";
import { addTotals, noTotals, type RunTotals } from "./outcome.ts";
import type { RunKind } from "./plan.ts";
import { type FinishedRun, simulateRun } from "./simulated-run.ts";

export interface SimulationOptions {
  readonly from: number;
  readonly count: number;
  /** Any, where none is named. */
  readonly kind?: RunKind;
  /** For all runs; left out, they have engines of their own. */
  readonly engine?: SimulationEngine;
  /** Told after each run, by its number and with the sums so far. */
  onRun?(seed: number, totals: RunTotals): void;
}

/** DuckDB remembers a little of every file that it ever read, so it is opened anew now and then. */
const RUNS_AN_ENGINE = 500;

/** Simulates one run after another; throws the `RunFailure` of the first that goes wrong. */
export async function simulate(options: SimulationOptions): Promise<RunTotals> {
  const { from, count, kind = "any", onRun = () => {} } = options;
  const sum = noTotals();
  for (let first = from; first < from + count; first += RUNS_AN_ENGINE) {
    const engine = options.engine ?? (await openSimulationEngine());
    try {
      for (let seed = first; seed < Math.min(first + RUNS_AN_ENGINE, from + count); seed++) {
        const { totals } = await simulateRun({ seed, engine, kind });
        addTotals(sum, totals);
        onRun(seed, sum);
      }
    } finally {
      if (options.engine === undefined) engine.close();
    }
  }
  return sum;
}

/** Simulates one run; throws its `RunFailure`. */
export async function simulateOne(seed: number): Promise<FinishedRun> {
  const engine = await openSimulationEngine();
  try {
    return await simulateRun({ seed, engine });
  } finally {
    engine.close();
  }
}
