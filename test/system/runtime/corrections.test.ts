import { expect, test } from "bun:test";
import { liveLivesOn } from "../../support/corrections/lives-on.ts";

/** What `test/unit/property/corrections-agree.test.ts` says under Bun. */
test("after corrections answers are those of the model on Deno", async () => {
  const { lives, corrections, undone } = await liveLivesOn("Deno", 20);
  expect(corrections).toBeGreaterThan(lives / 3);
  expect(undone).toBeGreaterThan(0);
});
