import { afterAll, expect, test } from "bun:test";
import { openOwnLog } from "../../../../src/cluster/init/own-log.ts";
import { directoryPaths } from "../../../../src/directory/paths.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { profileOf } from "../../../reference/profiles.ts";
import { createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { eraseFrom } from "../../../support/erase.ts";
import { outcome } from "../../../support/rejection.ts";

afterAll(removeArchiveApps);

test("openOwnLog() has the profiles that no seal has covered, and no others", async () => {
  const app = await createArchiveApp();
  const set = (name: string) =>
    app.directory.editProfile("fleet" as AppId, name as DeviceId, profileOf({ name }));
  await set("sealed");
  await app.seal();
  await set("later");
  await app.close();
  const log = await openOwnLog(createNodeFiles(), app.dataDir, directoryPaths(app.dataDir), () => {});
  const entries = await Array.fromAsync(log.entries());
  expect(
    entries.map((entry) => (entry.kind === "device_profile" ? entry.deviceId : entry.kind)) as string[],
  ).toEqual(["later"]);
  expect([log.lastSequence, log.records]).toEqual([2, 0]);
});

test("openOwnLog() refuses a directory with an erasure that is not finished, and has none that is", async () => {
  const app = await createArchiveApp();
  const report = { device_id: "van", timestamp: app.clock.nowMs(), latitude: 1, longitude: 2 };
  await app.store([report]);
  await eraseFrom(app, { deviceId: "van" });
  await app.store([{ ...report, device_id: "bus" }]);
  await app.close();
  const open = () => openOwnLog(createNodeFiles(), app.dataDir, directoryPaths(app.dataDir), () => {});
  expect(await outcome(open())).toThrow("is not finished");
  const again = await createArchiveApp({ clock: app.clock, dataDir: app.dataDir });
  const options = { dropsDamaged: false, onDaysLeft: () => undefined };
  expect(await again.directory.eraser.finishNow(options)).toBeNull();
  await again.close();
  const log = await open();
  const entries = await Array.fromAsync(log.entries());
  expect(entries.map((entry) => (entry.kind === "reports" ? entry.batch.texts : entry.kind))).toEqual([
    expect.arrayContaining(["bus"]),
  ]);
});
