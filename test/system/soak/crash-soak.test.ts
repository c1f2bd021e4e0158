import { describe, expect, test } from "bun:test";
import { RUNTIMES } from "../../support/server-process.ts";
import { ROUND_EDITS_MIN, soak } from "./support/crash-soak.ts";

const ROUNDS = 4; // `npm run soak` takes hundreds.

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    test(`${ROUNDS} times kill -9 under load, in seals and in starts: nothing acknowledged is lost or changed`, async () => {
      const summary = await soak({ runtime, rounds: ROUNDS, seed: 7, loadMsMax: 400, onRound: () => {} });
      expect(summary).toMatchObject({ refusedStarts: [], wrongAnswers: [], verifyCode: 0, rounds: ROUNDS });
      expect(summary.acknowledgedReports).toBeGreaterThan(1000);
      expect(summary.acknowledgedEdits).toBeGreaterThanOrEqual(ROUNDS * ROUND_EDITS_MIN);
      expect(summary.kills.afterSeal).toBe(1);
      expect(summary.archivedDays).toBeGreaterThan(0);
    });
  });
}
