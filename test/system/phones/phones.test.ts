import { describe, expect, test } from "bun:test";
import { RUNTIMES } from "../../support/server-process.ts";
import { FLEET } from "./run/fleet.ts";
import { runPhones } from "./run/phones-run.ts";
import { isGood, summaryText } from "./run/summary.ts";

const SEED = 5;
const TIMES = 240; // Four minutes of a phone in a second; `npm run phones` takes a day.
/** `test/long/phones.test.ts` has a minute and a half. */
const DURATION_MS = { Bun: 9000, Deno: 6000 };

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    test("phones of every client lose nothing that their rules allow to survive, and none is jammed", async () => {
      const durationMs = DURATION_MS[runtime.name];
      const run = await runPhones({ runtime, seed: SEED, durationMs, times: TIMES, fleet: FLEET });
      if (!isGood(run)) console.log(summaryText(runtime.name, run));
      expect(run).toMatchObject({ faults: [], verifyCode: 0 });
      const sum = (of: "stored" | "quarantined") => run.phones.reduce((all, phone) => all + phone[of], 0);
      expect(sum("stored")).toBeGreaterThan(100);
      expect(sum("quarantined")).toBeGreaterThan(10);
    });
  });
}
