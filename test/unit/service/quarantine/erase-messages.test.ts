import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import type { AppId } from "../../../../src/model/ids.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import { eraseMessages, findMessages } from "../../../../src/service/quarantine/erase-messages.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { ANY, APP, bodies, DIRECTORY, openTestQuarantine, refused } from "./fixture.ts";

const NO_SUBJECT = { appId: APP, deviceIds: [], userId: null, keyIds: [], sequence: 1000 };

test("eraseMessages() deletes the messages of a device and of its keys, before the erasure, for good", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  const { quarantine, wal, seal } = opened;
  const other = "other" as AppId;
  await quarantine.put([refused("by name", { deviceId: "bus" }), refused("of van", { deviceId: "van" })]);
  await quarantine.put([refused("by key", { deviceId: null, keyId: "key_2" })]);
  await quarantine.put([refused("elsewhere", { appId: other, deviceId: "bus", keyId: "key_2" })]);
  const scope = { ...NO_SUBJECT, deviceIds: ["bus"], keyIds: ["key_2"], sequence: wal.lastSequence + 1 };
  await quarantine.put([refused("later", { deviceId: "bus" })]);
  const found = await findMessages(quarantine, scope);
  expect(found).toMatchObject({ ids: [expect.any(String), expect.any(String)], unsearched: [] });
  expect(found.bytes).toBeGreaterThan(0);
  expect((await bodies(opened)).length).toBe(4);
  expect(await eraseMessages(quarantine, scope)).toEqual({ ok: true, value: found });
  expect(await bodies(opened)).toEqual(["later", "of van"]);
  expect(await bodies(opened, other)).toEqual(["elsewhere"]);
  await seal();
  const kept = [...files.crash().contents()].filter(([path]) => path.startsWith(`${DIRECTORY}/`));
  const bytes = Buffer.concat(kept.map(([, content]) => content));
  expect(["by name", "by key", "of van"].filter((text) => bytes.includes(text))).toEqual(["of van"]);
  expect(await eraseMessages(quarantine, scope)).toEqual({
    ok: true,
    value: { ids: [], bytes: 0, unsearched: [] },
  });
});

test("eraseMessages() of a user reads the messages, and names those that it can't read", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  const { quarantine, seal } = opened;
  await quarantine.put([
    refused("by path", { user: "ann" }),
    refused("by login", { basicUser: "ann" }),
    refused("of ben", { user: "ben", deviceId: "ann" }),
    refused("unreadable", { user: "ann" }),
  ]);
  await seal();
  const { entries } = quarantine.list(APP, ANY, 0, 10);
  const damaged = entries[0]!.name;
  files.beforeOperation = (operation, path) => {
    if (operation === "read" && path === `${DIRECTORY}/${damaged}`)
      throw new FileError(operation, path, "EIO");
  };
  const erased = await eraseMessages(quarantine, { ...NO_SUBJECT, userId: "ann" });
  expect(erased).toMatchObject({ ok: true, value: { unsearched: [damaged] } });
  files.beforeOperation = null;
  expect(await bodies(opened)).toEqual(["unreadable", "of ben"]);
});

test("eraseMessages() passes on why the log takes no deletion", async () => {
  const { quarantine } = await openTestQuarantine(createSimulatedFiles(), { hasFailed: () => false });
  await quarantine.put([refused("x")]);
  await quarantine.close();
  const erased = await eraseMessages(quarantine, { ...NO_SUBJECT, deviceIds: ["x"] });
  expect(erased).toMatchObject({ ok: false, error: { kind: "unavailable" } });
});
