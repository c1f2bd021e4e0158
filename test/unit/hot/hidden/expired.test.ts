import { afterAll, expect, test } from "bun:test";
import type { HeldCorrection } from "../../../../src/hot/hidden/held-correction.ts";
import { CorrectionsOfApp, countSince } from "../../../../src/hot/hidden/held-correction.ts";
import type { Correction } from "../../../../src/model/correction.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { FixedRetention } from "../../../../src/model/time/retention.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection, undoCorrection } from "../../../support/corrections/make-correction.ts";
import { APP_ID } from "../../../support/test-app.ts";
import { verifyDirectory } from "../../../support/verify-directory.ts";

/** What memory has of corrections goes with the records that retention deletes; the corrections stay on the list. */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 14, 3);
const APP = APP_ID as AppId;

const reportAt = (device_id: string, step: number) => ({
  device_id,
  timestamp: START_MS + step * 60_000,
  latitude: step,
  longitude: 2,
});

const correct = (app: ArchiveApp, members: object) => makeCorrection(app, { device_id: "bus", ...members });

const layerOf = ({ directory: { hot } }: ArchiveApp) => {
  const { records, active, hidden, number } = hot.corrections.find(APP)!;
  return { records, active, devices: hidden.size, number, rows: hot.recordCount };
};

async function statesOf(app: ArchiveApp): Promise<unknown[]> {
  const { body } = await app.get("/api/v1/corrections");
  return (body as unknown as { corrections: { state: string }[] }).corrections.map(({ state }) => state);
}

async function createCorrected() {
  const retention = FixedRetention.parse("30d");
  if (!retention.ok) throw new Error("30d is a retention");
  const app = await createArchiveApp({ retention: retention.value });
  await app.store([0, 1, 2, 3, 4].map((step) => reportAt("bus", step)));
  await app.seal();
  const hide = await correct(app, { action: "hide", timestamps: [reportAt("bus", 4).timestamp] });
  const at = reportAt("bus", 1).timestamp;
  await correct(app, { action: "move", timestamps: [at], latitude: 7, longitude: 8 });
  return { app, hide };
}

test("a seal that deletes expired days empties the corrections of their records, and others stay", async () => {
  let { app, hide } = await createCorrected();
  app.clock.advance(10 * DAY_MS);
  const late = { ...reportAt("bus", 0), timestamp: app.clock.nowMs() - 60_000 };
  await app.store([late]);
  await correct(app, { action: "hide", timestamps: [late.timestamp] });
  app.clock.advance(17 * DAY_MS);
  await app.seal(); // The first day expires.
  expect(layerOf(app)).toEqual({ records: 3, active: 3, devices: 1, number: 3, rows: 1 });
  expect(await statesOf(app)).toEqual(["active", "active", "active"]);
  app.clock.advance(DAY_MS);
  await app.seal(); // Its files are deleted.
  const emptied = { records: 1, active: 3, devices: 1, number: 3, rows: 0 };
  expect(layerOf(app)).toEqual(emptied);
  expect(await statesOf(app)).toEqual(["active", "active", "active"]);
  await app.seal();
  app = await app.restart();
  await app.seal();
  expect(layerOf(app)).toEqual(emptied);
  expect((await verifyDirectory(app.dataDir, app.clock)).problems).toEqual([]);
  await undoCorrection(app, hide);
  expect(layerOf(app)).toEqual({ ...emptied, active: 2, number: 4 });
  expect(await statesOf(app)).toEqual(["active", "active", "undone"]);
  app.clock.advance(13 * DAY_MS);
  await app.seal();
  app.clock.advance(DAY_MS);
  await app.seal();
  const { hot } = app.directory;
  expect([layerOf(app).records, hot.deviceCount, hot.findHidden(APP)?.deviceCount]).toEqual([0, 0, 0]);
  expect(app.notes).toEqual([]);
  await app.close();
});

test("a record that shows at a later time stays until that expires, though its own day is deleted", async () => {
  const retention = FixedRetention.parse("30d");
  if (!retention.ok) throw new Error("30d is a retention");
  let app = await createArchiveApp({ retention: retention.value });
  await app.store([reportAt("bus", 0), reportAt("bus", 1)]);
  await app.seal();
  const id = await correct(app, {
    action: "shift_time",
    timestamps: [reportAt("bus", 0).timestamp],
    by_ms: 5 * DAY_MS,
  });
  const shown = async () => {
    const path = "/api/v1/devices/bus/locations/current";
    const { status, body } = await app.get(path);
    return status === 200 ? body.location.timestamp : null;
  };
  app.clock.advance(17 * DAY_MS);
  await app.seal(); // Both records expire, but not the time at which one of them shows.
  app.clock.advance(DAY_MS);
  await app.seal();
  expect([layerOf(app).records, await shown()]).toEqual([1, START_MS + 5 * DAY_MS]);
  app = await app.restart();
  await app.seal();
  expect([layerOf(app).records, await shown()]).toEqual([1, START_MS + 5 * DAY_MS]);
  app.clock.advance(5 * DAY_MS);
  await app.seal();
  app.clock.advance(DAY_MS);
  await app.seal();
  expect(await shown()).toBeNull();
  expect(layerOf(app)).toEqual({ records: 0, active: 1, devices: 0, number: 1, rows: 0 });
  await undoCorrection(app, id);
  app = await app.restart();
  expect([await shown(), layerOf(app).active, app.notes]).toEqual([null, 0, []]);
  await app.close();
});

test("countSince() leaves out what lies before an instant, unless it shows after it", () => {
  const app = new CorrectionsOfApp();
  const add = (id: string, times: readonly number[], byMs: number | null, isActive = true) => {
    const target = byMs === null ? null : { deviceId: "bus", byMs, position: null, userId: null };
    const correction = { id, deviceId: "bus", target, firstMs: times[0]!, lastMs: times.at(-1)! };
    const rest = { number: 1, isActive, timestampMs: Float64Array.from(times), rowsUpTo: [] };
    app.byId.set(id, { correction: correction as Correction, ...rest } as unknown as HeldCorrection);
  };
  add("past", [1, 2], null);
  add("both", [8, 9, 10, 11], null);
  add("later", [1, 6], 5);
  add("earlier", [9, 12], -5);
  add("undone", [20], null, false);
  add("emptied", [2], null);
  app.byId.set("emptied", { ...app.byId.get("emptied")!, timestampMs: new Float64Array(0) });
  const ofDevice = { id: "device", deviceId: "bus", isOfDevice: true, firstMs: 1, lastMs: 2 };
  app.byId.set("device", { ...app.byId.get("emptied")!, correction: ofDevice as unknown as Correction });
  expect(countSince(app, 10)).toEqual({ active: 4, records: 2 + 1 + 1 });
  expect(countSince(app, 0)).toEqual({ active: 6, records: 10 });
});
