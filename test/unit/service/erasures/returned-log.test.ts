import { afterAll, expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { createArchiveApp, removeArchiveApps, temporaryDataDir } from "../../../support/archive-app.ts";

/** A power failure may bring segments of the log back that an erasure has removed. */

afterAll(removeArchiveApps);

const DAY_MS = Date.UTC(2026, 0, 14);

test("what was erased stays so if the log comes back, also of a device that shows as another since", async () => {
  const clock = createManualClock(DAY_MS + 8.5 * MS_PER_DAY);
  const app = await createArchiveApp({ clock });
  const send = async (path: string, key: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const { status } = await app.fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(status).toBe(200);
  };
  const report = { device_id: "van", latitude: 53.4, longitude: -2.98 };
  await app.store([{ ...report, timestamp: DAY_MS }]);
  await app.store([{ ...report, timestamp: DAY_MS + MS_PER_DAY }]);
  await send("/api/v1/erasures", app.keys.eraser, { device_id: "van", end: DAY_MS + 1 });
  await send("/api/v1/corrections", app.keys.full, {
    ...{ action: "assign", device_id: "van", to_device_id: "bus" },
  });
  const log = join(app.dataDir, "wal");
  const copy = join(temporaryDataDir(), "wal");
  cpSync(log, copy, { recursive: true });
  const options = { dropsDamaged: false, onDaysLeft: () => undefined };
  expect(await app.directory.eraser.finishNow(options)).toBeNull();
  await app.directory.close();
  rmSync(log, { recursive: true });
  cpSync(copy, log, { recursive: true });
  const after = await app.restart();
  const shown = async () => {
    const range = "start_date=2026-01-13&end_date=2026-01-16";
    const { body } = await after.get(`/api/v1/devices/bus/locations/history?${range}`);
    return body.locations.map(({ timestamp }) => timestamp);
  };
  expect(await shown()).toEqual([DAY_MS + MS_PER_DAY]);
  await after.seal();
  expect(await shown()).toEqual([DAY_MS + MS_PER_DAY]);
  await after.close();
});
