import { afterAll, expect, test } from "bun:test";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import type { Report } from "../../../support/reports/batches.ts";

/* What memory knows of archived records after an erasure of some of them. */

afterAll(removeArchiveApps);

const MIDNIGHT_MS = Date.UTC(2026, 0, 15);
const DAY_MS = 86_400_000;
/** The day before midnight is due to be sealed. */
const NOW_MS = MIDNIGHT_MS + 7.5 * DAY_MS;
const DATES = "start_date=2026-01-13&end_date=2026-01-16";

function report(afterMs: number, more: Report = {}): Report {
  return { device_id: "van", timestamp: MIDNIGHT_MS + afterMs, latitude: 1, longitude: 2, ...more };
}

async function erase(app: ArchiveApp, range: { readonly start?: number; readonly end?: number }) {
  const headers = { authorization: `Bearer ${app.keys.eraser}`, "content-type": "application/json" };
  const body = JSON.stringify({ device_id: "van", ...range });
  expect((await app.fetch("/api/v1/erasures", { method: "POST", headers, body })).status).toBe(200);
}

test("days that were answered before an erasure are read anew", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([report(-2), report(-1)]);
  await app.seal();
  const days = `/api/v1/devices/van/days?${DATES}`;
  const reportsOf = async () => (await app.get(days)).body.days;
  expect(await reportsOf()).toMatchObject([{ reports: 2 }]);
  await erase(app, { end: MIDNIGHT_MS - 1 });
  expect(await reportsOf()).toMatchObject([{ reports: 1 }]);
  await app.close();
});

test("a late report is laid over an archived record though the device's newest archived one is erased", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([report(-2, { user_id: "anna" }), report(-1), report(1)]);
  await app.seal();
  await erase(app, { start: MIDNIGHT_MS - 1, end: MIDNIGHT_MS });
  await app.store([report(-2, { speed: 3 })]);
  const history = `/api/v1/devices/van/locations/history?${DATES}`;
  const expected = [{ user_id: "anna", speed: 3 }, {}];
  expect((await app.get(history)).body.locations).toMatchObject(expected);
  await app.seal();
  const again = await app.restart();
  await again.store([report(-2, { speed: 4 })]);
  expect((await again.get(history)).body.locations).toMatchObject([{ user_id: "anna" }, {}]);
  await again.close();
});

test("a restart does not show what an erasure left as the newest, and a later one erased", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  await app.store([report(-2), report(1)]);
  await app.seal();
  await erase(app, { start: MIDNIGHT_MS });
  await erase(app, { end: MIDNIGHT_MS });
  await app.seal();
  const again = await app.restart();
  expect((await again.get("/api/v1/devices/van/locations/current")).status).toBe(404);
  expect((await again.get("/api/v1/locations/current")).body.locations).toEqual([]);
  await again.close();
});
