import { describe, expect, test } from "bun:test";
import { RUNTIMES } from "../../support/server-process.ts";
import { runMemory } from "./support/memory-run.ts";
import { hasProcessFigures } from "./support/process-figures.ts";

/**
 * Too short to see memory grow, which `test/long/memory.test.ts` looks at over half a minute, and
 * `npm run soak -- --memory 60m` over an hour.
 */
const DURATION_MS = 10_000;
const RESIDENT_BYTES_MAX = 800e6;

if (!hasProcessFigures) console.warn("Left out: memory under a steady load, which needs Linux's /proc.");

for (const runtime of RUNTIMES) {
  describe.skipIf(!hasProcessFigures)(`on ${runtime.name}`, () => {
    test("a steady mixed load is answered, and leaves descriptors and records where they were", async () => {
      const run = await runMemory({ runtime, durationMs: DURATION_MS, seed: 3, onSample: () => {} });
      expect(run.wrongAnswers).toEqual([]);
      expect(run.requests).toBeGreaterThan(150);
      expect(run.seals).toBeGreaterThan(2);
      for (const { records } of run.samples) expect(records).toBeGreaterThanOrEqual(run.steadyRecords);
      // What came since the last seal, and where seals are slow some more.
      expect(run.samples.at(-1)!.records - run.steadyRecords).toBeLessThan(3000);
      expect(run.samples.at(-1)!.residentBytes).toBeLessThan(RESIDENT_BYTES_MAX);
      expect(run.samples.at(-1)!.descriptors).toBeLessThan(150);
    });
  });
}
