import { openSimulationEngine } from "../../unit/simulation/run/engine.ts";
import * as fc from "../fast-check.ts";
import { createLifeTotals, type LifeTotals, live } from "./life.ts";
import { type ArbitraryLife, arbitraryLife } from "./life-steps.ts";

/**
 * Lives this nominal number of lives, one after another. Rejects with the first that differs from the model, which
 * `WHEREHOUSE_TEST_SHRINK=1` makes as small as it gets. With the `path` that such a failure prints, and its seed, only
 * that life is lived.
 */
export async function liveLives(lives: number, path?: string): Promise<LifeTotals> {
  const totals = createLifeTotals();
  const engine = await openSimulationEngine();
  try {
    await fc.assert(
      fc.asyncProperty(arbitraryLife, (life) => live(life, engine, totals)),
      {
        numRuns: lives,
        endOnFailure: process.env.WHEREHOUSE_TEST_SHRINK === undefined,
        ...(path === undefined ? {} : { path }),
      },
    );
  } finally {
    engine.close();
  }
  return totals;
}

/** Lives one life, as that once differed from the model. */
export async function liveAgain(life: ArbitraryLife): Promise<void> {
  const engine = await openSimulationEngine();
  try {
    await live(life, engine, createLifeTotals());
  } finally {
    engine.close();
  }
}
