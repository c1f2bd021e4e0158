import { expect, test } from "bun:test";
import { liveLivesOn } from "../support/corrections/lives-on.ts";

/** What `test/unit/property/corrections-agree.test.ts` says of a few lives, on both runtimes: 2,000 in a long run. */
const LIVES = 200;

for (const runtime of ["Bun", "Deno"] as const) {
  test(`after corrections answers are those of the model, in 2,000 lives on ${runtime}`, async () => {
    const { lives, corrections, undone, erasures, finished, seals, repeated } = await liveLivesOn(
      runtime,
      LIVES,
    );
    expect(lives).toBeGreaterThanOrEqual(LIVES / 10);
    for (const count of [corrections, undone, seals]) expect(count).toBeGreaterThan(lives / 3);
    for (const count of [erasures, finished]) expect(count).toBeGreaterThan(lives / 5);
    expect(repeated).toBeGreaterThan(0);
  });
}

test("after corrections and erasures every node of a cluster answers as the model, in 400 lives", async () => {
  const { lives, corrections, erasures, seals } = await liveLivesOn("Bun", LIVES / 5, 3);
  expect(lives).toBeGreaterThanOrEqual(LIVES / 50);
  for (const count of [corrections, erasures, seals]) expect(count).toBeGreaterThan(lives / 3);
});
