import { afterAll, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lostName } from "../../../../src/archive/archive-files.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { batchOf, type Report } from "../../../support/reports/batches.ts";
import { OTHER_APP_ID } from "../../../support/test-app.ts";
import { verifyDirectory } from "../../../support/verify-directory.ts";

/** What an app is told of its erasures tells nothing about those of another app, though files hold both. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const ALWAYS = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
const RIVAL = OTHER_APP_ID as AppId;

function report(device_id: string, daysAgo: number): Report {
  return { device_id, timestamp: NOW_MS - daysAgo * MS_PER_DAY, latitude: 1, longitude: 2 };
}

test("progress and report of an erasure name days and files of the app alone", async () => {
  const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
  const { directory, dataDir } = app;
  // Only the 20th day and the segments of the log have records of both apps.
  await app.store([report("van", 20), report("van", 30), report("bus", 20)]);
  await directory.ingest(RIVAL, batchOf([11, 12, 13, 14, 20].map((days) => report("van", days))));
  await app.seal();
  const { manifest } = directory.archive;
  const partsOf = (appId: string) =>
    [...manifest.days.values()].flatMap(({ parts }) => parts.filter(({ apps }) => apps.has(appId as AppId)));
  const own = partsOf("fleet").map(({ file }) => `archive/${file}`);
  const lost = partsOf(RIVAL).find(({ apps }) => apps.size === 1)!;
  rmSync(join(dataDir, "archive", lost.file));
  await directory.archive.examine([lost]);
  await verifyDirectory(dataDir, app.clock, { acknowledge: true });
  await app.seal();
  mkdirSync(join(dataDir, "damaged"), { recursive: true });
  writeFileSync(join(dataDir, "damaged", lostName(lost.file)), "of the other app");
  writeFileSync(join(dataDir, "damaged", "wal.damaged"), "of any app");

  const ids: string[] = [];
  for (const appId of ["fleet", RIVAL] as AppId[]) {
    const wanted = { subject: { deviceId: "van" as DeviceId }, range: ALWAYS, block: false };
    const caller = { signal: new AbortController().signal };
    const erased = await directory.erase.create(appId, wanted, { keyId: "key", nowMs: NOW_MS }, caller);
    if (!erased.ok) throw new Error(erased.error.kind);
    ids.push(erased.value.erasure.id);
  }
  expect(directory.eraser.list("fleet" as AppId)).toMatchObject([{ id: ids[0]!, daysLeft: 2 }]);
  expect(directory.eraser.list(RIVAL)).toMatchObject([{ id: ids[1]!, daysLeft: 4 }]);

  const options = { dropsDamaged: false, onDaysLeft: () => undefined };
  expect(await directory.eraser.finishNow(options)).toBeNull();
  const { state, report: finished } = (await directory.eraser.find("fleet" as AppId, ids[0]!))!;
  expect(state.daysLeft).toBe(0);
  const archived = finished!.places.find(({ place }) => place === "archive")!;
  expect(archived.removed).toBe(2);
  expect(archived.files.map(({ file }) => file).sort()).toEqual(own.sort());
  expect(finished!.remains.map(({ where }) => where)).toEqual(["damaged/wal.damaged"]);
  const other = (await directory.eraser.find(RIVAL, ids[1]!))!.report!;
  expect(other.places.find(({ place }) => place === "archive")).toMatchObject({ removed: 4 });
  expect(other.remains).toHaveLength(2);
  await app.close();
});
