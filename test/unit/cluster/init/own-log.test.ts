import { afterAll, expect, test } from "bun:test";
import { openOwnLog } from "../../../../src/cluster/init/own-log.ts";
import { directoryPaths } from "../../../../src/directory/paths.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { profileOf } from "../../../reference/profiles.ts";
import { createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";

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
