import { describe, expect, test } from "bun:test";
import { RUNTIMES } from "../../support/server-process.ts";
import { soakErasures } from "./support/erase-soak.ts";

const KILLS = 2; // `npm run soak -- --erasures 100` takes more, and the long tests.

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    test(`${KILLS} times kill -9 beside erasures: no trace is left, and nothing else is lost`, async () => {
      const summary = await soakErasures({ runtime, kills: KILLS, seed: 3, onKill: () => {} });
      expect(summary).toMatchObject({ refusedStarts: [], wrongAnswers: [], verifyCode: 0 });
      expect(summary.erasures).toBeGreaterThan(0);
      expect(summary.acknowledgedReports).toBeGreaterThan(0);
    });
  });
}
