import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection, undoCorrection } from "../../../support/corrections/make-correction.ts";

/** A start without the checkpoint finds the newest records in the days' parts, less those that corrections hide. */

afterAll(removeArchiveApps);

const DAY_MS = Date.UTC(2026, 0, 14);
const NOTE = "The newest positions are restored from the whole archive";

const reportAt = (minute: number, device_id = "bus") => ({
  device_id,
  timestamp: DAY_MS + minute * 60_000,
  latitude: minute,
  longitude: 2,
});

function hide(app: ArchiveApp, ...minutes: number[]): Promise<string> {
  const timestamps = minutes.map((minute) => DAY_MS + minute * 60_000);
  return makeCorrection(app, { action: "hide", device_id: "bus", timestamps });
}

async function minuteOf(app: ArchiveApp, device = "bus"): Promise<unknown> {
  const { status, body } = await app.get(`/api/v1/devices/${device}/locations/current`);
  return status === 404 ? null : body.location.latitude;
}

async function restartWithout(app: ArchiveApp): Promise<ArchiveApp> {
  rmSync(join(app.dataDir, "archive", "latest"), { recursive: true });
  const next = await app.restart();
  expect(next.notes.join("\n")).toContain(NOTE);
  return next;
}

test("what came after a correction shows, though the part's newest record is hidden", async () => {
  let app = await createArchiveApp();
  await app.store([reportAt(1), reportAt(4), reportAt(5), reportAt(3, "tram")]);
  const id = await hide(app, 4, 5);
  await app.store([reportAt(2)]); // Newer than the correction's own newest record.
  await app.seal();
  expect(await minuteOf(app)).toBe(2);
  app = await restartWithout(app);
  expect([await minuteOf(app), await minuteOf(app, "tram")]).toEqual([2, 3]);
  await undoCorrection(app, id);
  expect(await minuteOf(app)).toBe(5);
  await app.close();
});

test("a device all of whose records are hidden has no newest one", async () => {
  let app = await createArchiveApp();
  await app.store([reportAt(1), reportAt(2), reportAt(3, "tram")]);
  await app.seal();
  await hide(app, 1, 2);
  await app.seal();
  app = await restartWithout(app);
  expect([await minuteOf(app), await minuteOf(app, "tram")]).toEqual([null, 3]);
  await app.close();
});
