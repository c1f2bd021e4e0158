import { afterAll, expect, test } from "bun:test";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { turns } from "../../../support/turns.ts";

/** What a device shows as its newest record once that of an erased user is gone. */

afterAll(removeArchiveApps);

const DAY_MS = Date.UTC(2026, 0, 14);
/** The day is just due to be archived. */
const NOW_MS = DAY_MS + 8.5 * MS_PER_DAY;
const TURNS_MAX = 24;

test("a device keeps its newest record of another user, whenever a seal archives it", async () => {
  for (let count = 0; count <= TURNS_MAX; count += 2) {
    const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
    const report = { device_id: "van", latitude: 53.4, longitude: -2.98 };
    await app.store([
      { ...report, timestamp: DAY_MS, user_id: "anna" },
      { ...report, timestamp: DAY_MS + 1000, user_id: "bert" },
    ]);
    const sealing = app.seal();
    await turns(count);
    const headers = { authorization: `Bearer ${app.keys.eraser}`, "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify({ user_id: "bert" }) };
    expect((await app.fetch("/api/v1/erasures", request)).status).toBe(200);
    await sealing;
    const { body } = await app.get("/api/v1/locations/current");
    expect([count, body.locations]).toMatchObject([count, [{ timestamp: DAY_MS, user_id: "anna" }]]);
    await app.close();
  }
});

test("a late report without a user keeps the archived one, though the newest archived record was another's", async () => {
  const app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
  const report = { device_id: "van", latitude: 53.4, longitude: -2.98 };
  await app.store([{ ...report, timestamp: DAY_MS + MS_PER_DAY, user_id: "anna" }]); // Stays in memory.
  await app.store([
    { ...report, timestamp: DAY_MS, user_id: "anna" },
    { ...report, timestamp: DAY_MS + 1000 },
    { ...report, timestamp: DAY_MS + 2000, user_id: "bert" },
  ]);
  await app.seal();
  const headers = { authorization: `Bearer ${app.keys.eraser}`, "content-type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify({ user_id: "bert" }) };
  expect((await app.fetch("/api/v1/erasures", request)).status).toBe(200);
  await app.store([{ ...report, timestamp: DAY_MS, speed: 3 }]);
  const day = "start_date=2026-01-14&end_date=2026-01-14";
  const { body } = await app.get(`/api/v1/devices/van/locations/history?${day}`);
  expect(body.locations).toMatchObject([{ user_id: "anna", speed: 3 }, { user_id: "ANONYMOUS" }]);
  await app.close();
});
