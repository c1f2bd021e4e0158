import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection } from "../../../support/corrections/make-correction.ts";
import { APP_ID } from "../../../support/test-app.ts";

/** After devices that show as another one are erased, that one shows its own newest record, and nothing of theirs. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = Date.UTC(2026, 0, 14);
const ALWAYS = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
const ERASED_USER = "user-who-is-erased";

const reportAt = (device_id: string, timestamp: number, user_id: string) => ({
  ...{ device_id, timestamp, user_id, latitude: 1, longitude: 2 },
});

async function erase(app: ArchiveApp, deviceId: string): Promise<void> {
  const wanted = { subject: { deviceId: deviceId as DeviceId }, range: ALWAYS, block: false };
  const caller = { signal: new AbortController().signal };
  const erased = await app.directory.erase.create(
    APP_ID as AppId,
    wanted,
    { keyId: "key", nowMs: NOW_MS },
    caller,
  );
  expect(erased).toMatchObject({ ok: true });
}

/** The user and time of the newest record, and how many records its history has. */
async function shownOf(app: ArchiveApp, device: string): Promise<unknown[]> {
  const current = await app.get(`/api/v1/devices/${device}/locations/current`);
  const days = "start_date=2026-01-12&end_date=2026-01-16";
  const history = await app.get(`/api/v1/devices/${device}/locations/history?${days}`);
  const { user_id, timestamp } = current.body.location ?? {};
  return [current.status, user_id, timestamp, history.body.locations.length];
}

/** Files of the directory that have a text, as it is. */
function filesWith(app: ArchiveApp, text: string): string[] {
  const names = readdirSync(app.dataDir, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return files.filter((path) => readFileSync(path).includes(text));
}

test.each([["first"], ["second"]])("after the erasure of the %s of two, and a restart", async (erased) => {
  let app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([
    reportAt("new", OLD_MS, "bob"),
    reportAt("first", OLD_MS + 10_000, ERASED_USER),
    reportAt("second", OLD_MS - (erased === "first" ? 5000 : -15_000), ERASED_USER),
  ]);
  await app.seal();
  await makeCorrection(app, { action: "assign", device_id: "first", to_device_id: "new" });
  await makeCorrection(app, { action: "assign", device_id: "second", to_device_id: "new" });
  const newestMs = erased === "first" ? OLD_MS + 10_000 : OLD_MS + 15_000;
  expect(await shownOf(app, "new")).toEqual([200, ERASED_USER, newestMs, 3]);
  await erase(app, erased);
  const left = erased === "first" ? ["bob", OLD_MS] : [ERASED_USER, OLD_MS + 10_000];
  expect(await shownOf(app, "new")).toEqual([200, ...left, 2]);
  app = await app.restart();
  expect(await shownOf(app, "new")).toEqual([200, ...left, 2]);
  await app.close();
});

test("what a correction of it left as the newest, and another one had reported, is erased too", async () => {
  let app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([
    reportAt("new", OLD_MS, "bob"),
    reportAt("older", OLD_MS + 10_000, ERASED_USER),
    reportAt("new", OLD_MS + 20_000, "bob"),
  ]);
  await app.seal();
  await makeCorrection(app, { action: "assign", device_id: "older", to_device_id: "new" });
  await makeCorrection(app, { action: "hide", device_id: "new", timestamps: [OLD_MS + 20_000] });
  await app.seal();
  expect(await shownOf(app, "new")).toEqual([200, ERASED_USER, OLD_MS + 10_000, 2]);
  await erase(app, "older");
  const options = { dropsDamaged: false, onDaysLeft: () => undefined };
  expect(await app.directory.eraser.finishNow(options)).toBeNull();
  expect(await shownOf(app, "new")).toEqual([200, "bob", OLD_MS, 1]);
  app = await app.restart();
  expect(await shownOf(app, "new")).toEqual([200, "bob", OLD_MS, 1]);
  expect(filesWith(app, ERASED_USER)).toEqual([]);
  await app.close();
});
