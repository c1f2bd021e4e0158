import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Directory, makeDirectory } from "../../../bench/support/fairness/directories.ts";
import { runTrial } from "../../../bench/support/fairness/trial.ts";
import {
  RUNTIME_NAMES,
  startWatched,
  type WatchedServer,
} from "../../../bench/support/fairness/watched-server.ts";

/*
 * Goal: whatever one client does, a well-behaved app of the same server gets all its answers. Method: real processes,
 * and the cheapest shapes of `npm run bench fairness` at a fraction of their time; answers are counted, never timed.
 */

const SHAPES = [
  "zstd-empty-blocks",
  "gzip-brackets",
  "json-empty-objects",
  "one-byte-chunks",
  "silent-bodies",
  "stopped-bodies",
  "archive-crowd",
  "docs-bundle",
  "pipelining",
];

let directory: Directory;
beforeAll(async () => {
  directory = await makeDirectory({ name: "plain", devices: 0, lateRows: 0, archivedRowsADay: 1000 });
});

for (const runtime of RUNTIME_NAMES) {
  describe(`on ${runtime}`, () => {
    let server: WatchedServer;
    let remove = () => {};
    beforeAll(async () => {
      const copy = directory.copy();
      remove = copy.remove;
      server = await startWatched(runtime, copy.dataDir, directory.keys.operator);
    });
    afterAll(async () => {
      await server.stop();
      remove();
    });

    test.each(SHAPES)("%s costs a well-behaved app no answer", async (shape) => {
      const { before, during, after, outcomes } = await runTrial({
        shape,
        server,
        keys: directory.keys,
        bodyBytes: 16 * 2 ** 20 - 1024,
        devices: 0,
        requestsPerSecond: 40,
        warmSeconds: 0,
        quietSeconds: 0.25,
        attackSeconds: 1,
        recoverySeconds: 0,
      });
      expect([before.failures, during.failures, after.failures]).toEqual([{}, {}, {}]);
      expect(during.asked).toBeGreaterThan(30);
      expect(Object.values(outcomes).some((count) => count > 0)).toBe(true); // It did attack.
      // Its own faults, and that others come first.
      for (const outcome of Object.keys(outcomes)) expect(outcome).not.toMatch(/^5(?!03$)\d\d$/);
    });
  });
}
