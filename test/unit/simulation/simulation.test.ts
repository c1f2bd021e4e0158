/*
 * Goal: whatever disks, clocks and clients do while a data directory is in use, what was acknowledged is there with
 * exactly its fields, in its app alone, nothing is invented, there twice or back from the dead, damage is named, and no
 * start is refused over it. Method: runs drawn from seeds (run/plan.ts) drive the real service over a
 * simulated disk and a clock turned by hand; a plain map says what must be there, through the service's own questions,
 * after every restart and at the end. A failure names its seed: `npm run simulate -- --seed N` shows that run step by
 * step, `--count N` simulates more of them.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { openSimulationEngine, type SimulationEngine } from "./run/engine.ts";
import { simulate } from "./run/simulate.ts";
import { simulateRun } from "./run/simulated-run.ts";

// Its cases compute for seconds on a quiet machine, and wait for nothing.
setDefaultTimeout(60_000);

const RUNS = randomRuns(100);

let engine: SimulationEngine;
beforeAll(async () => {
  engine = await openSimulationEngine();
});
afterAll(() => engine.close());

test(`the ${RUNS} runs from ${RANDOM_SEED} on keep every promise`, async () => {
  const totals = await simulate({ from: RANDOM_SEED, count: RUNS, engine });
  // Less than a third of what comes on average, so that no new seed misses it by chance.
  expect(totals.powerFailures).toBeGreaterThan(RUNS / 2);
  expect(totals.seals).toBeGreaterThan(RUNS / 5);
  expect(totals.flips).toBeGreaterThan(RUNS / 10);
  expect(totals.acknowledged).toBeGreaterThan(20 * RUNS);
  expect(totals.forgeries).toBeGreaterThan(RUNS / 10);
  expect(totals.clockTurns).toBeGreaterThan(RUNS / 2);
  expect(totals.backups).toBeGreaterThan(RUNS / 5);
});

/** Runs that broke a promise once, beyond those above, of which kind they are, and what they need for it. */
const BROKEN_ONCE = [
  ["a backup forgot the files that the former one could not put in their places", 2119, "any", "backups"],
  ["the checkpoint kept the newest position of a device whose day was deleted", 6414, "any", "seals"],
  [
    "a start on a full disk showed what a failed sync had left to be read, but not written",
    1005591,
    "any",
    "kills",
  ],
  ["the model did not know which parts a new manifest had to do without", 716128164, "any", "flips"],
  ["the model did not know that of a lost report some fields may still show", 55, "seals", "seals"],
] as const;

test.each(BROKEN_ONCE)("%s: run %i keeps every promise now", async (_, seed, kind, needed) => {
  expect((await simulate({ from: seed, count: 1, kind, engine }))[needed]).toBeGreaterThan(0);
});

test("simulateRun() does the same operations for the same seed", async () => {
  for (const seed of [5, 10, 11, 12, 15]) {
    const [once, again] = [await simulateRun({ seed, engine }), await simulateRun({ seed, engine })];
    expect([seed, again.digest, again.story]).toEqual([seed, once.digest, once.story]);
    expect(once.totals.operations).toBeGreaterThan(0);
  }
});
