import { afterAll, expect, test } from "bun:test";
import { createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection } from "../../../support/corrections/make-correction.ts";
import { eraseFrom } from "../../../support/erase.ts";

/** Erasing an archived record that is hidden leaves the one that shows instead of it. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = Date.UTC(2026, 0, 14);
const DAY_MS = 86_400_000;

test("a device whose newest record is erased while it is hidden keeps the one before it", async () => {
  const app = await createArchiveApp({ startMs: NOW_MS });
  const place = { device_id: "bus", longitude: 2 };
  await app.store([
    { ...place, timestamp: OLD_MS, latitude: 1 },
    { ...place, timestamp: OLD_MS + DAY_MS, latitude: 2 },
  ]);
  await app.seal();
  await makeCorrection(app, { action: "hide", device_id: "bus", timestamps: [OLD_MS + DAY_MS] });
  await eraseFrom(app, { deviceId: "bus", startMs: OLD_MS + DAY_MS });
  const { body } = await app.get("/api/v1/devices/bus/locations/current");
  expect(body.location).toMatchObject({ latitude: 1, timestamp: OLD_MS });
  await app.close();
});
