import { afterAll, expect, test } from "bun:test";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { laidOver, type ReferenceRecord, type ReferenceReport } from "../../reference/records.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import * as fc from "../../support/fast-check.ts";
import type { Report } from "../../support/reports/batches.ts";
import { verifyDirectory } from "../../support/verify-directory.ts";

/*
 * Goal: six reports of one instant come to one record, however they are cut into batches, files of the archive, late
 * rows and starts of the process. Method: one directory is never sealed, one is sealed after every batch, one is cut as
 * chance has it. Each answers with what laying the reports over each other one by one gives, and `verify` has one hash
 * for all.
 */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const OLD_MS = Date.UTC(2026, 0, 14, 12);

const maybe = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });

const report = fc
  .record({
    latitude: fc.constantFrom(1, 2, 3),
    horizontal_accuracy: maybe(3, 4, 5),
    vertical_accuracy: maybe(2),
    altitude: maybe(100),
    speed: maybe(7, 8),
    bearing: maybe(90),
    is_mock: maybe(true, false),
    battery_level: maybe(50, 60),
    user_id: maybe("u", "v"),
    type: maybe("MOVING"),
  })
  .map((some): Report => {
    const carried = Object.entries(some).filter(([, value]) => value !== undefined);
    return { device_id: "a", timestamp: OLD_MS, longitude: 5, ...Object.fromEntries(carried) };
  });

const stories = fc.record({
  reports: fc.array(report, { minLength: 6, maxLength: 6 }),
  /** Behind each report: what follows comes in the same batch, in another, after a seal, or after a start. */
  cuts: fc.array(fc.constantFrom("none", "batch", "seal", "seal", "start"), { minLength: 6, maxLength: 6 }),
  /** Whether the device has a newer archived record, so that memory does not know the one of the instant. */
  hasNewer: fc.boolean(),
});

type Cut = "none" | "batch" | "seal" | "start";

async function tell(app: ArchiveApp, reports: readonly Report[], cuts: readonly Cut[]): Promise<ArchiveApp> {
  let told = app;
  let batch: Report[] = [];
  for (const [index, one] of reports.entries()) {
    batch.push(one);
    const cut = cuts[index]!;
    if (cut === "none" && index < reports.length - 1) continue;
    await told.store(batch);
    batch = [];
    if (cut === "seal") await told.seal();
    if (cut === "start") told = await told.restart();
  }
  return told;
}

async function shown(app: ArchiveApp): Promise<unknown> {
  const path = "/api/v1/devices/a/locations/history?start_date=2026-01-14&end_date=2026-01-14";
  const { body } = await app.get(path);
  const locations = body.locations as readonly Record<string, unknown>[];
  return locations.filter(({ timestamp }) => timestamp === OLD_MS);
}

test("six reports of one instant come to one record and one hash, however they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(stories, async ({ reports, cuts, hasNewer }) => {
      const clock = createManualClock(OLD_MS + 9 * DAY_MS);
      const newer = { device_id: "a", timestamp: OLD_MS + 1000, latitude: 1, longitude: 5 };
      const expected = (reports as unknown as ReferenceReport[]).reduce<ReferenceRecord | null>(
        laidOver,
        null,
      );
      const hashes = new Set<string>();
      for (const cutting of [
        Array<Cut>(6).fill("batch"),
        Array<Cut>(6).fill("seal"),
        cuts as readonly Cut[],
      ]) {
        let app = await createArchiveApp({ clock, lateWindow: { firstRows: 1, rowsMax: 2 } });
        if (hasNewer) await app.store([newer]);
        app = await tell(app, reports, cutting);
        const found = (await shown(app)) as readonly Record<string, unknown>[];
        expect(found).toMatchObject([{ ...expected }]);
        for (const name of [
          "horizontal_accuracy",
          "altitude",
          "speed",
          "bearing",
          "is_mock",
          "vertical_accuracy",
        ])
          expect(name in found[0]!).toBe(name in expected!);
        await app.close();
        hashes.add((await verifyDirectory(app.dataDir, clock)).sha256!);
      }
      expect(hashes.size).toBe(1);
    }),
    { numRuns: 12 },
  );
});
