/*
 * Goal: lives find bugs. Method: each bug is planted alone, by a disk that lies or by a broken store (life/planted.ts),
 * and lives are lived until one breaks a promise. The same life without the bug keeps them all.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LifeEngine, openLifeEngine } from "./life/engine.ts";
import { live } from "./life/life.ts";
import { LifeFailure } from "./life/outcome.ts";
import { PLANTED_BUGS, type PlantedBug } from "./life/planted.ts";

/** Each is found within so many lives. */
const LIVES_MAX = 1000;
/** Lives are lived from the first on, or from one that is known to be near the one that finds the bug. */
const IS_FROM_FIRST = process.env.PLANTED_FROM_FIRST === "1";

let engine: LifeEngine;
beforeAll(async () => {
  engine = await openLifeEngine();
});
afterAll(() => engine.close());

/** The first life that finds the bug, and what it says; null where none does. */
async function findBug({ kind, plant, near = 1, forgesChecksums = false }: PlantedBug) {
  for (let seed = IS_FROM_FIRST ? 1 : near; seed <= LIVES_MAX; seed++) {
    try {
      await live({ seed, engine, kind, planted: plant(), forgesChecksums });
    } catch (error) {
      if (!(error instanceof LifeFailure)) throw error;
      return { seed, reason: error.message };
    }
  }
  return null;
}

for (const bug of PLANTED_BUGS) {
  test(`live() finds that ${bug.name}`, async () => {
    const found = await findBug(bug);
    expect(found).not.toBeNull();
    await live({ seed: found!.seed, engine, kind: bug.kind });
  }, 120_000);
}
