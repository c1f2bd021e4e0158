import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeManifest, parseManifest } from "../../../../src/archive/manifest.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection, undoCorrection } from "../../../support/corrections/make-correction.ts";
import { APP_ID } from "../../../support/test-app.ts";
import { verifyDirectory } from "../../../support/verify-directory.ts";

/** `verify` counts and hashes corrections, wherever they lie, and reads the file of standing entries. */

afterAll(removeArchiveApps);

const DAY_MS = Date.UTC(2026, 0, 14);

const verify = ({ dataDir, clock }: ArchiveApp) => verifyDirectory(dataDir, clock);

function hide(app: ArchiveApp, minutes: readonly number[]): Promise<string> {
  const timestamps = minutes.map((minute) => DAY_MS + minute * 60_000);
  return makeCorrection(app, { action: "hide", device_id: "bus", timestamps });
}

async function createBus(): Promise<ArchiveApp> {
  const app = await createArchiveApp();
  const minutes = Array.from({ length: 10 }, (_, minute) => minute);
  await app.store(
    minutes.map((minute) => ({
      device_id: "bus",
      timestamp: DAY_MS + minute * 60_000,
      latitude: 1,
      longitude: 2,
    })),
  );
  return app;
}

test("corrections are counted and hashed in the log, sealed and after a restart; records are as reported", async () => {
  let app = await createBus();
  const none = await verify(app);
  expect(none.corrections).toEqual([]);
  const id = await hide(app, [1, 2]);
  await hide(app, [5]);
  const first = await verify(app);
  expect(first).toMatchObject({
    appDays: none.appDays!,
    corrections: [{ app: APP_ID, active: 2, undone: 0, records: 3 }],
    problems: [],
  });
  expect(first.sha256).not.toBe(none.sha256);
  await app.seal();
  expect(await verify(app)).toMatchObject({ corrections: first.corrections!, sha256: first.sha256 });
  app = await app.restart();
  await app.seal();
  expect(await verify(app)).toMatchObject({ corrections: first.corrections!, sha256: first.sha256 });
  await undoCorrection(app, id);
  const second = await verify(app);
  expect(second.corrections).toMatchObject([{ active: 1, undone: 1, records: 1 }]);
  expect(second.corrections![0]!.sha256).not.toBe(first.corrections![0]!.sha256);
  expect(second.problems).toEqual([]);
  await app.close();
});

test("a file of standing entries that is intact, but not the one that the manifest counts, is damage", async () => {
  const app = await createBus();
  await hide(app, [1]);
  await app.seal();
  await app.close();
  const path = join(app.dataDir, "archive", "manifest.json");
  const manifest = parseManifest(readFileSync(path));
  if (!manifest.ok) throw new Error(manifest.error.kind);
  const standing = manifest.value.standing!;
  for (const wrong of [{ rows: standing.rows + 1 }, { apps: new Map([["other" as AppId, standing.rows]]) }]) {
    writeFileSync(path, encodeManifest({ ...manifest.value, standing: { ...standing, ...wrong } }));
    expect((await verify(app)).problems).toEqual([
      `archive/${standing.file}: its entries are not those the manifest counts`,
    ]);
  }
});
