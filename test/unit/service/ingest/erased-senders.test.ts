import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { directoryPaths } from "../../../../src/directory/paths.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createArchiveApp, removeArchiveApps, temporaryDataDir } from "../../../support/archive-app.ts";
import { eraseFrom } from "../../../support/erase.ts";
import { APP_ID } from "../../../support/test-app.ts";
import { until } from "../../../support/until.ts";

/** What a directory's ledger of erasures blocks is refused at each door. */

afterAll(removeArchiveApps);

const RANGE = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };

test("a blocked device is refused from its erasure on, also after a restart, by every client", async () => {
  const first = await createArchiveApp();
  const nowMs = first.clock.nowMs();
  const report = (timestamp: number) => ({ device_id: "pixel", timestamp, latitude: 1, longitude: 2 });
  await first.store([report(nowMs - 2000)]);
  const subject = { kind: "device", appId: APP_ID as AppId, id: "pixel" } as const;
  await first.directory.erasures.add({
    id: "e_1",
    subject,
    ...RANGE,
    sequence: 2,
    createdMs: 1,
    block: true,
  });
  for (const isRestarted of [false, true]) {
    const app = isRestarted ? await first.restart() : first;
    const { body } = await app.post([report(nowMs - 1000)]);
    expect(body).toMatchObject({ accepted: 0, rejected: [{ index: 0, device_id: "pixel" }] });
    const query = `lat=12.3456&lon=2&timestamp=${(nowMs - 500) / 1000}`;
    const phone = await app.fetch(`/ingest/osmand/k/${app.keys.full}/pixel?${query}`);
    expect(phone.status).toBe(200);
    const { body: kept } = await app.get("/api/v1/quarantine");
    const [entry] = (kept as unknown as { entries: { id: string }[] }).entries;
    expect(entry).toMatchObject({ reason: "erased", device_id: "pixel", body_bytes: 0 });
    const { body: whole } = await app.get(`/api/v1/quarantine/${entry!.id}`);
    expect(JSON.stringify(whole)).not.toContain("12.3456");
    const { body: history } = await app.get("/api/v1/devices/pixel/locations/history");
    expect(history.locations.map(({ timestamp }) => timestamp)).toEqual([nowMs - 2000]);
    expect(app.notes).toEqual([]);
  }
});

test("a ledger that can't be used blocks nothing, is named, and stays as it is", async () => {
  const dataDir = temporaryDataDir();
  const path = directoryPaths(dataDir).erasures;
  writeFileSync(path, '{"version": 2}');
  const app = await createArchiveApp({ dataDir });
  expect(app.notes).toEqual([expect.stringContaining(path)]);
  expect(app.directory.erasures.state).toMatchObject({ kind: "ledger_of_other_version" });
  await app.store([{ device_id: "pixel", timestamp: app.clock.nowMs(), latitude: 1, longitude: 2 }]);
  await app.close();
});

test("a device that another node blocks is refused once the entry is here, before it is in this node's ledger", async () => {
  const app = await createArchiveApp();
  const report = { device_id: "pixel", timestamp: app.clock.nowMs(), latitude: 1, longitude: 2 };
  const sealing = app.seal();
  app.directory.eraser.start();
  await eraseFrom(app, { deviceId: "pixel", block: true });
  expect(app.directory.erasures.erasures).toEqual([]);
  expect((await app.post([report])).body.rejected).toMatchObject([{ device_id: "pixel" }]);
  await sealing;
  await until(() => app.directory.erasures.erasures.some(({ finishedMs }) => finishedMs !== null));
  expect((await app.post([report])).body.rejected).toMatchObject([{ device_id: "pixel" }]);
  await app.close();
});
