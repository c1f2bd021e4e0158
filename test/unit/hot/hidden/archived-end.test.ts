import { afterAll, expect, test } from "bun:test";
import type { AppId } from "../../../../src/model/ids.ts";
import { parseNewCorrection } from "../../../../src/service/corrections/new-correction.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { eraseFrom } from "../../../support/erase.ts";
import { APP_ID } from "../../../support/test-app.ts";

/** A late report is laid over an archived record even after memory no longer has the newest archived one. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = Date.UTC(2026, 0, 14);
const DAY_MS = 86_400_000;
const RECENT_MS = Date.UTC(2026, 0, 27);
const { signal } = new AbortController();

const reportAt = (device_id: string, timestamp: number, latitude: number, more: object = {}) => ({
  ...{ device_id, timestamp, latitude, longitude: 2, ...more },
});

async function assign({ directory, clock }: ArchiveApp, from: string, to: string): Promise<string> {
  const wanted = parseNewCorrection({ action: "assign", device_id: from, to_device_id: to });
  if (!wanted.ok) throw new Error(wanted.error);
  const request = { keyId: "key", nowMs: clock.nowMs(), repetition: null };
  const made = await directory.correct.create(APP_ID as AppId, wanted.value, request, { signal });
  if (!made.ok) throw new Error(JSON.stringify(made.error));
  return made.value.item.correction.id;
}

const undo = async ({ directory }: ArchiveApp, id: string) =>
  expect((await directory.correct.undo(APP_ID as AppId, id, "key", { signal })).ok).toBe(true);

/** Two archived records, "new" having the older one and, beside it, a recent record. */
async function createArchived(): Promise<ArchiveApp> {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([
    reportAt("new", OLD_MS, 1, { user_id: "ada" }),
    reportAt("old", OLD_MS + 20_000, 2),
    reportAt("new", RECENT_MS, 3),
  ]);
  await app.seal();
  return app;
}

async function expectLaidOver(app: ArchiveApp): Promise<void> {
  await app.store([reportAt("new", OLD_MS, 4)]);
  const range = "start_date=2026-01-14&end_date=2026-01-14";
  const { body } = await app.get(`/api/v1/devices/new/locations/history?${range}`);
  expect(body.locations).toMatchObject([{ latitude: 4, user_id: "ada" }]);
  await app.close();
}

test("after another device's was the newest for a while", async () => {
  const app = await createArchived();
  await undo(app, await assign(app, "old", "new"));
  await expectLaidOver(app);
});

test("while a device shows as another, which showed a third before", async () => {
  const app = await createArchived();
  const first = await assign(app, "old", "new");
  const second = await assign(app, "new", "third");
  await app.store([reportAt("new", OLD_MS, 4)]);
  await undo(app, second);
  await undo(app, first);
  await expectLaidOver(app);
});

test("after an erasure of newer ones", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([
    reportAt("new", OLD_MS, 1, { user_id: "ada" }),
    reportAt("new", OLD_MS + DAY_MS, 2),
    reportAt("new", RECENT_MS, 3),
  ]);
  await app.seal();
  await eraseFrom(app, { deviceId: "new", startMs: OLD_MS + DAY_MS, endMs: RECENT_MS });
  await expectLaidOver(app);
});
