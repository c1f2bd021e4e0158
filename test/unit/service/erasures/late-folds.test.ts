import { afterAll, expect, test } from "bun:test";
import { ok } from "../../../../src/lib/result.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { MS_PER_DAY, MS_PER_MINUTE } from "../../../../src/model/time/units.ts";
import { FileError, type Files } from "../../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { LateFolds } from "../../../../src/service/erasures/late-folds.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { rejection } from "../../../support/rejection.ts";
import { APP_ID } from "../../../support/test-app.ts";

/** Seals before a user is erased: who causes them, how many, and what a failed one answers. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = NOW_MS - 20 * MS_PER_DAY;
const REPORT = { device_id: "van", latitude: 1, longitude: 2, user_id: "anna" };
const APP = APP_ID as AppId;

const WRITTEN = { isWritten: true };

const has = (deviceId: string) => async () => ok([deviceId as DeviceId]);

/** An archived report, and a late one of the same day. */
async function fillLate(app: ArchiveApp): Promise<void> {
  await app.store([{ ...REPORT, timestamp: OLD_MS }]);
  await app.seal();
  await app.store([{ ...REPORT, timestamp: OLD_MS + 1000 }]);
}

function eraseAnna(app: ArchiveApp): Promise<Response> {
  const headers = { authorization: `Bearer ${app.keys.eraser}`, "content-type": "application/json" };
  const body = JSON.stringify({ user_id: "anna" });
  return app.fetch("/api/v1/erasures", { method: "POST", headers, body });
}

test("a seal that fails before a user is erased is a 503, and nothing is erased", async () => {
  const real = createNodeFiles();
  let isFull = false;
  const files: Files = {
    ...real,
    async replace(path, bytes) {
      if (isFull && path.includes("day=")) throw new FileError("replace", path, "ENOSPC");
      return real.replace(path, bytes);
    },
  };
  const app = await createArchiveApp({ clock: createManualClock(NOW_MS), disk: { files } });
  await fillLate(app);
  isFull = true;
  const refused = await eraseAnna(app);
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("60");
  expect(refused.headers.get("wherehouse-error-code")).toBe("UNAVAILABLE_001");
  expect(await refused.json()).toMatchObject({ message: expect.stringContaining("nothing was erased") });
  expect(app.directory.hot.erasures.pending()).toEqual([]);
  expect(app.directory.erasures.erasures).toEqual([]);
  const history = "/api/v1/devices/van/locations/history?start_date=2026-01-01&end_date=2026-01-28";
  expect((await app.get(history)).body.locations).toHaveLength(2);

  isFull = false;
  expect((await eraseAnna(app)).status).toBe(200);
  expect((await app.get(history)).status).toBe(404);
  await app.close();
});

test("LateFolds seals only for devices of the user that have late rows, and a few times a minute", async () => {
  const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
  await fillLate(app);
  let folds = 0;
  const { hot, schedule } = app.directory;
  const folding = new LateFolds({
    archive: WRITTEN,
    hot,
    foldLate: async () => ({ blocked: [`${++folds}`] }),
  });
  expect(await folding.foldAll("other" as AppId, has("van"), NOW_MS)).toEqual({ ok: true, value: undefined });
  expect(await folding.foldAll(APP, has("bus"), NOW_MS)).toEqual({ ok: true, value: undefined });
  expect(folds).toBe(0);
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(await folding.foldAll(APP, has("van"), NOW_MS)).toMatchObject({
      ok: false,
      error: { kind: "unavailable" },
    });
    expect(folds).toBe(3);
  }
  expect(await folding.foldAll(APP, has("van"), NOW_MS + MS_PER_MINUTE)).toMatchObject({ ok: false });
  expect(folds).toBe(6);

  const damaged = new LateFolds({
    archive: WRITTEN,
    hot,
    foldLate: async () => ({ blocked: ["2026-01-08"] }),
  });
  expect(await damaged.foldAll(APP, has("van"), NOW_MS)).toMatchObject({ ok: true });
  const real = new LateFolds({ archive: WRITTEN, hot, foldLate: () => schedule.trySeal() });
  expect(await real.foldAll(APP, has("van"), NOW_MS)).toMatchObject({ ok: true });
  expect(hot.daysInMemory().filter(({ isSealed, records }) => isSealed && records > 0)).toEqual([]);
  await app.close();
});

test("a user is erased once the disk has the manifest that memory goes by", async () => {
  const real = createNodeFiles();
  let isBroken = false;
  const files: Files = {
    ...real,
    async replace(path, bytes) {
      await real.replace(path, bytes);
      if (isBroken && path.endsWith("manifest.json")) throw new FileError("replace", path, "EIO");
    },
  };
  const app = await createArchiveApp({ clock: createManualClock(NOW_MS), disk: { files } });
  await app.store([{ ...REPORT, timestamp: OLD_MS, user_id: "bert" }]);
  isBroken = true;
  await rejection(app.seal());
  isBroken = false;
  await app.store([{ ...REPORT, timestamp: OLD_MS }]);
  expect((await eraseAnna(app)).status).toBe(200);
  const again = await app.restart();
  const history = "/api/v1/devices/van/locations/history?start_date=2026-01-01&end_date=2026-01-28";
  expect((await again.get(history)).body.locations ?? []).toEqual([]);
  await again.close();
});
