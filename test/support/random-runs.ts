import { seededRandom } from "./seeded-random.ts";

/*
 * The number and seed of random cases. One factor and one seed apply to all tests: few, repeatable cases in unit tests,
 * more and new ones in the system tier (`test/runner/main.ts` sets both).
 */

const FACTOR = Number(process.env.WHEREHOUSE_TEST_RUNS ?? 0.2);
/** The seed of this test run. */
export const RANDOM_SEED = Number(process.env.WHEREHOUSE_TEST_SEED ?? 1);

/** The number of cases for a test's nominal number; at least one. */
export function randomRuns(named: number): number {
  return Math.max(1, Math.ceil(named * FACTOR));
}

const random = seededRandom(RANDOM_SEED);

/** Draws one item from each of `count` equal ranges, at random; all items if there are no more. */
export function drawSome<Item>(items: readonly Item[], count: number): Item[] {
  if (count >= items.length) return [...items];
  const step = items.length / count;
  return Array.from({ length: count }, (_, stretch) => items[Math.floor((stretch + random()) * step)]!);
}
