/*
 * Goal: whatever happens to a disk, a clock and a client over the life of a data directory, what was acknowledged is
 * there with exactly its fields, in its app alone, nothing is invented, there twice or back from the dead, damage is
 * named, and no start is refused over it. Method: lives drawn from seeds (life/plan.ts) drive the real service over a
 * simulated disk and a clock turned by hand; a plain map says what must be there, through the service's own questions,
 * after every restart and at the end. A failure names its seed: `npm run simulate -- --seed N` shows that life step by
 * step, `--count N` lives more of them.
 */
import { expect, test } from "bun:test";
import { openLifeEngine } from "./life/engine.ts";
import { live } from "./life/life.ts";
import { liveMany } from "./life/lives.ts";

const LIVES = 500;
const LIVES_A_TEST = 100;

for (let from = 1; from <= LIVES; from += LIVES_A_TEST) {
  test(`lives ${from} to ${from + LIVES_A_TEST - 1} keep every promise`, async () => {
    const totals = await liveMany({ from, count: LIVES_A_TEST });
    expect(totals.powerFailures).toBeGreaterThan(LIVES_A_TEST);
    expect(totals.seals).toBeGreaterThan(LIVES_A_TEST / 5);
    expect(totals.flips).toBeGreaterThan(LIVES_A_TEST / 5);
    expect(totals.acknowledged).toBeGreaterThan(20 * LIVES_A_TEST);
    expect(totals.forgeries).toBeGreaterThan(LIVES_A_TEST / 5);
    expect(totals.clockTurns).toBeGreaterThan(LIVES_A_TEST);
    expect(totals.backups).toBeGreaterThan(LIVES_A_TEST / 5);
  }, 120_000);
}

/** Lives that broke a promise once, beyond those above, and what they need for it. */
const BROKEN_ONCE = [
  ["a backup forgot the files that the former one could not put in their places", 5803, "backups"],
  ["the checkpoint kept the newest position of a device whose day was deleted", 6414, "seals"],
] as const;

test.each(BROKEN_ONCE)("%s: life %i keeps every promise now", async (_, seed, needed) => {
  expect((await liveMany({ from: seed, count: 1 }))[needed]).toBeGreaterThan(0);
});

test("live() does the same operations for the same seed", async () => {
  const engine = await openLifeEngine();
  for (const seed of [5, 10, 11, 12, 15]) {
    const [once, again] = [await live({ seed, engine }), await live({ seed, engine })];
    expect([seed, again.digest, again.story]).toEqual([seed, once.digest, once.story]);
    expect(once.totals.operations).toBeGreaterThan(0);
  }
  engine.close();
}, 30_000);
