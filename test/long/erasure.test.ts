import { describe, expect, test } from "bun:test";
import { RANDOM_SEED } from "../support/random-runs.ts";
import { RUNTIMES } from "../support/server-process.ts";
import { soakErasures } from "../system/soak/support/erase-soak.ts";
import { erasureText, isGoodErasing } from "../system/soak/support/erase-summary.ts";

/** What `test/system/soak/erase-soak.test.ts` says of a few kills, with 200 on both runtimes together. */
const KILLS = { Bun: 130, Deno: 70 };

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    test("kill -9 at any moment of erasures leaves no trace of what was erased, and all of the rest", async () => {
      const kills = KILLS[runtime.name];
      const summary = await soakErasures({ runtime, kills, seed: RANDOM_SEED, onKill: () => {} });
      if (!isGoodErasing(summary)) console.log(erasureText(runtime.name, summary));
      expect(summary).toMatchObject({ refusedStarts: [], wrongAnswers: [], verifyCode: 0 });
      for (const count of Object.values(summary.kills)) expect(count).toBeGreaterThan(0);
      expect(summary.erasures).toBeGreaterThan(kills / 6);
      expect(summary.acknowledgedReports).toBeGreaterThan(kills);
    });
  });
}
