import { describe, expect, test } from "bun:test";
import { RUNTIMES } from "../support/server-process.ts";
import { growthOf, runMemory } from "../system/soak/support/memory-run.ts";
import { hasProcessFigures } from "../system/soak/support/process-figures.ts";

const DURATION_MS = 30_000;

/**
 * Half a minute is most of it warm-up: collectors have hardly begun. `npm run soak -- --memory 60m` asks for a tenth.
 */
const GROWTH_MAX = 1.8;
const RESIDENT_BYTES_MAX = 800e6;

if (!hasProcessFigures) console.warn("Left out: memory under a steady load, which needs Linux's /proc.");

for (const runtime of RUNTIMES) {
  describe.skipIf(!hasProcessFigures)(`on ${runtime.name}`, () => {
    test("half a minute of a steady mixed load leaves memory, descriptors and records about where they were", async () => {
      const run = await runMemory({ runtime, durationMs: DURATION_MS, seed: 3, onSample: () => {} });
      expect(run.wrongAnswers).toEqual([]);
      expect(run.requests).toBeGreaterThan(500);
      expect(run.seals).toBeGreaterThan(2);
      for (const { records } of run.samples) expect(records).toBeGreaterThanOrEqual(run.steadyRecords);
      // What came since the last seal, and where seals are slow some more.
      expect(run.samples.at(-1)!.records - run.steadyRecords).toBeLessThan(3000);
      const { growth, endBytes } = growthOf(run);
      expect(growth).toBeLessThan(GROWTH_MAX);
      expect(endBytes).toBeLessThan(RESIDENT_BYTES_MAX);
      expect(run.samples.at(-1)!.descriptors).toBeLessThan(150);
    });
  });
}
