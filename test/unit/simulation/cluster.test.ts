/*
 * Goal: nodes that share a log have the same for ever, whatever becomes of their disks. Method: three real services,
 * each over a simulated disk and an archive of its own, follow one simulated stream that loses, repeats and delays
 * messages and is purged of what no node needs. They take reports, new and late, and corrections, on several nodes at
 * once, seal, end in every way and start again, and the power fails before any operation of a seal or a start. What a
 * node has in the end, in memory and archive, is what the obvious model makes of all that the stream ever had; what was
 * acknowledged is in that.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { type ClusterTotals, simulateCluster } from "./cluster/cluster-run.ts";
import { openSimulationEngine, type SimulationEngine } from "./run/engine.ts";
import { RunFailure } from "./run/outcome.ts";

// Its cases compute for seconds on a quiet machine, and wait for nothing.
setDefaultTimeout(60_000);

const RUNS = randomRuns(12);
/** Fewer runs may end without a seal that fails. */
const RUNS_FOR_RARE = 8;

/** A DuckDB for each node. */
const engines: SimulationEngine[] = [];
beforeAll(async () => {
  for (let node = 0; node < 3; node++) engines.push(await openSimulationEngine());
});
afterAll(() => {
  for (const engine of engines) engine.close();
});

/** What went wrong, and what happened before. */
function tellStory(error: unknown): never {
  if (error instanceof RunFailure)
    throw new Error(`${error.message}\n${error.story.join("\n")}`, { cause: error });
  throw error;
}

test(`the ${RUNS} runs of a cluster from ${RANDOM_SEED} on keep every promise`, async () => {
  const sum: Partial<Record<keyof ClusterTotals, number>> = {};
  for (let seed = RANDOM_SEED; seed < RANDOM_SEED + RUNS; seed++) {
    const totals = await simulateCluster({ seed, engines }).catch(tellStory);
    for (const [name, count] of Object.entries(totals) as [keyof ClusterTotals, number][])
      sum[name] = (sum[name] ?? 0) + count;
  }
  // Less than half of what comes on average, so that no new seed misses it by chance.
  expect(sum.acknowledged).toBeGreaterThan(40 * RUNS);
  for (const name of ["seals", "purged"] as const) expect([name, sum[name]! >= RUNS]).toEqual([name, true]);
  const rare = RUNS < RUNS_FOR_RARE ? (["refused"] as const) : (["refused", "failedSeals"] as const);
  for (const name of rare) expect([name, sum[name]! > 0]).toEqual([name, true]);
  expect(sum.corrections).toBeGreaterThan(RUNS);
  expect(sum.undone).toBeGreaterThan(0);
  expect(sum.powerFailures).toBeGreaterThan(4 * RUNS);
});
