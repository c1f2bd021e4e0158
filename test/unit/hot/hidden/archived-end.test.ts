import { afterAll, expect, test } from "bun:test";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection, undoCorrection } from "../../../support/corrections/make-correction.ts";
import { eraseFrom } from "../../../support/erase.ts";

/** A late report is laid over an archived record even after memory no longer has the newest archived one. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = Date.UTC(2026, 0, 14);
const DAY_MS = 86_400_000;
const RECENT_MS = Date.UTC(2026, 0, 27);
const RANGE = "start_date=2026-01-14&end_date=2026-01-14";

const reportAt = (device_id: string, timestamp: number, latitude: number, more: object = {}) => ({
  ...{ device_id, timestamp, latitude, longitude: 2, ...more },
});

const assign = (app: ArchiveApp, from: string, to: string) =>
  makeCorrection(app, { action: "assign", device_id: from, to_device_id: to });

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

test("late reports to a hidden record are laid over it, before a seal and after it", async () => {
  let app = await createArchived();
  await app.store([reportAt("new", OLD_MS + 60_000, 6)]);
  await app.seal();
  const hidden = { action: "shift_time", device_id: "new", by_ms: 1000, timestamps: [OLD_MS] } as const;
  const id = await makeCorrection(app, hidden);
  await app.store([reportAt("new", OLD_MS, 4)]);
  app.clock.advance(DAY_MS);
  await app.seal();
  await app.store([reportAt("new", OLD_MS, 5, { horizontal_accuracy: 1 })]);
  app = await app.restart();
  await app.seal();
  await undoCorrection(app, id);
  const { body } = await app.get(`/api/v1/devices/new/locations/history?${RANGE}`);
  expect(body.locations).toMatchObject([{ latitude: 5, user_id: "ada" }, { latitude: 6 }]);
  await app.close();
});

async function expectLaidOver(app: ArchiveApp): Promise<void> {
  await app.store([reportAt("new", OLD_MS, 4)]);
  const { body } = await app.get(`/api/v1/devices/new/locations/history?${RANGE}`);
  expect(body.locations).toMatchObject([{ latitude: 4, user_id: "ada" }]);
  await app.close();
}

test("a late report is laid over after the record of another device was the newest for a while", async () => {
  const app = await createArchived();
  await undoCorrection(app, await assign(app, "old", "new"));
  await expectLaidOver(app);
});

test("a late report is laid over after two chained assignments are undone", async () => {
  const app = await createArchived();
  const first = await assign(app, "old", "new");
  const second = await assign(app, "new", "third");
  await app.store([reportAt("new", OLD_MS, 4)]);
  await undoCorrection(app, second);
  await undoCorrection(app, first);
  await expectLaidOver(app);
});

test("a late report is laid over after an erasure of newer records", async () => {
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
