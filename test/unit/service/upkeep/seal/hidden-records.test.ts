import { afterAll, expect, test } from "bun:test";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import { verifyDirectory } from "../../../../support/verify-directory.ts";

/** What seals make of hidden records: the archive keeps what was reported, in order. */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 28, 12);
const SEALED_MS = NOW_MS - 9 * DAY_MS;
const TIMES = [0, 1, 2, 3].map((hour) => SEALED_MS + hour * 3_600_000);

async function createApp(): Promise<ArchiveApp> {
  const app = await createArchiveApp({ startMs: NOW_MS });
  const devices = ["bus", "tram"];
  await app.store(
    devices.flatMap((device_id) =>
      TIMES.map((timestamp) => ({ device_id, timestamp, latitude: 53.4, longitude: -2.9 })),
    ),
  );
  return app;
}

async function send(app: ArchiveApp, method: string, path: string, body?: object): Promise<string> {
  const response = await app.fetch(path, {
    method,
    headers: { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { correction: { id: string } }).correction.id;
}

const hide = (app: ArchiveApp) =>
  send(app, "POST", "/api/v1/corrections", {
    action: "hide",
    device_id: "bus",
    timestamps: [TIMES[0], TIMES[2]],
  });

async function expectWhole(app: ArchiveApp, id: string): Promise<void> {
  await send(app, "DELETE", `/api/v1/corrections/${id}`);
  const history = "/api/v1/devices/bus/locations/history?start_date=2026-01-19&end_date=2026-01-19";
  const { locations } = (await app.get(history)).body;
  expect(locations.map(({ timestamp }) => timestamp)).toEqual(TIMES);
  await app.close();
  expect((await verifyDirectory(app.dataDir, app.clock)).problems).toEqual([]);
}

test("records that are hidden when their day is sealed are in order once they are shown again", async () => {
  const app = await createApp();
  const id = await hide(app);
  await app.seal();
  await expectWhole(app, id);
});
