import fastCheck, { type IAsyncProperty, type IProperty, type Parameters } from "fast-check";
import { RANDOM_SEED, randomRuns } from "./random-runs.ts";

/* fast-check, whose `assert` uses the number of cases and the seed of this test run. */

export * from "fast-check";

const RUNS_DEFAULT = 100;

export function assert<Values>(
  property: IAsyncProperty<Values>,
  parameters?: Parameters<Values>,
): Promise<void>;
export function assert<Values>(property: IProperty<Values>, parameters?: Parameters<Values>): void;
export function assert<Values>(
  property: IAsyncProperty<Values> | IProperty<Values>,
  parameters: Parameters<Values> = {},
): Promise<void> | void {
  const { numRuns = RUNS_DEFAULT, examples = [] } = parameters;
  const runs = Math.max(randomRuns(numRuns), examples.length);
  return fastCheck.assert(property, { seed: RANDOM_SEED, ...parameters, numRuns: runs }) as Promise<void>;
}
