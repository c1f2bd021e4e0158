import { seededRandom } from "./seeded-random.ts";

/*
 * How many random cases tests try, and which. One factor and one seed serve all: few cases that are the same every time
 * in unit tests, more and new ones in the system tier (`test/runner/main.ts` sets both).
 */

const FACTOR = Number(process.env.WHEREHOUSE_TEST_RUNS ?? 0.2);
/** Of all random cases of this run of tests. */
export const RANDOM_SEED = Number(process.env.WHEREHOUSE_TEST_SEED ?? 1);

/** The number of cases to try where a test names so many; at least one. */
export function randomRuns(named: number): number {
  return Math.max(1, Math.ceil(named * FACTOR));
}

const random = seededRandom(RANDOM_SEED);

/** One item of each of `count` equal stretches, others at each call; all items if there are no more than that. */
export function drawSome<Item>(items: readonly Item[], count: number): Item[] {
  if (count >= items.length) return [...items];
  const step = items.length / count;
  return Array.from({ length: count }, (_, stretch) => items[Math.floor((stretch + random()) * step)]!);
}
