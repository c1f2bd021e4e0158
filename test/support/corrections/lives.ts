import { openSimulationEngine, type SimulationEngine } from "../../unit/simulation/run/engine.ts";
import * as fc from "../fast-check.ts";
import { createLifeTotals, type LifeTotals, live } from "./life.ts";
import { type ArbitraryLife, arbitraryLife } from "./life-steps.ts";

/**
 * Lives this nominal number of lives, one after another. Rejects with the first that differs from the model, which
 * `WHEREHOUSE_TEST_SHRINK=1` makes as small as it gets. With the `path` that such a failure prints, and its seed, only
 * that life is lived.
 */
export async function liveLives(lives: number, { path, nodes = 1 }: LivesOptions = {}): Promise<LifeTotals> {
  const totals = createLifeTotals();
  const engines = await openEngines(nodes);
  try {
    await fc.assert(
      fc.asyncProperty(arbitraryLife, (life) => live(life, engines, totals)),
      {
        numRuns: lives,
        endOnFailure: process.env.WHEREHOUSE_TEST_SHRINK === undefined,
        ...(path === undefined ? {} : { path }),
      },
    );
  } finally {
    for (const engine of engines) engine.close();
  }
  return totals;
}

export interface LivesOptions {
  readonly path?: string;
  /** One is a single process, more are a cluster. */
  readonly nodes?: number;
}

/** Archives that are open at once share no DuckDB. */
async function openEngines(nodes: number): Promise<SimulationEngine[]> {
  const engines: SimulationEngine[] = [];
  for (let node = 0; node < nodes; node++) engines.push(await openSimulationEngine());
  return engines;
}

/** Lives one life, as that once differed from the model. */
export async function liveAgain(life: ArbitraryLife, nodes = 1): Promise<void> {
  const engines = await openEngines(nodes);
  try {
    await live(life, engines, createLifeTotals());
  } finally {
    for (const engine of engines) engine.close();
  }
}
