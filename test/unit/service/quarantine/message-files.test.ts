import { expect, test } from "bun:test";
import { FileError, ignoreFileError } from "../../../../src/runtime/files.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { outcome } from "../../../support/rejection.ts";
import { ANY, APP, bodies, DIRECTORY, openTestQuarantine, refused, type TestQuarantine } from "./fixture.ts";

function messagesOn(files: SimulatedFiles): number {
  return [...files.contents().keys()].filter((path) => path.startsWith(`${DIRECTORY}/`)).length;
}

async function deleteOf({ quarantine, messages }: TestQuarantine, deviceId: string): Promise<void> {
  const [entry] = quarantine.list(APP, { ...ANY, deviceId }, 0, 1).entries;
  expect(await quarantine.delete(APP, [entry!.id])).toEqual({ ok: true, value: 1 });
  await messages.files.settle();
}

/** Seals, then again behind a new segment, so that the log drops all that is covered. Each may fail once. */
async function sealForGood({ quarantine, seal }: TestQuarantine): Promise<void> {
  const sealAtLast = () =>
    seal().catch((error: unknown) => {
      ignoreFileError(error);
      return seal();
    });
  await sealAtLast();
  expect((await quarantine.put([refused("in a new segment")])).ok).toBe(true);
  await sealAtLast();
}

test("a removal whose sync failed before a restart is repeated after it, though the file is gone from view", async () => {
  const files = createSimulatedFiles();
  const first = await openTestQuarantine(files);
  await first.quarantine.put([refused("a"), refused("b")]);
  await first.seal();
  await deleteOf(first, "a");
  files.failNext("syncDirectory", "EIO");
  expect(await outcome(first.seal())).toThrow(FileError);
  expect(messagesOn(files)).toBe(1);
  await sealForGood(await openTestQuarantine(files));
  const found = files.crash();
  expect(await bodies(await openTestQuarantine(found))).toEqual(["in a new segment", "b"]);
  expect(messagesOn(found)).toBe(2);
});

test("a directory's failed sync concerns every change in it, also while a removal is repeated", async () => {
  for (let failing = 1; failing <= 3; failing++) {
    const files = createSimulatedFiles();
    const first = await openTestQuarantine(files);
    await first.quarantine.put([refused("a"), refused("b")]);
    await first.seal();
    await deleteOf(first, "a");
    const second = await openTestQuarantine(files);
    await second.quarantine.put([refused("c")]);
    await second.messages.files.settle();
    let syncs = 0;
    files.beforeOperation = (operation, path) => {
      if (operation !== "syncDirectory" || path !== DIRECTORY || ++syncs !== failing) return;
      files.failNext("syncDirectory", "EIO");
    };
    await sealForGood(second);
    expect(await bodies(await openTestQuarantine(files.crash()))).toEqual(["in a new segment", "c", "b"]);
  }
});

test("a power failure while a removal is repeated leaves no damage", async () => {
  const files = createSimulatedFiles();
  const first = await openTestQuarantine(files);
  await first.quarantine.put([refused("a")]);
  await first.seal();
  await deleteOf(first, "a");
  const second = await openTestQuarantine(files);
  let found: SimulatedFiles | null = null;
  files.beforeOperation = (operation, path) => {
    if (operation === "remove" && path.startsWith(DIRECTORY)) found ??= files.crash(() => 0.999);
  };
  expect(await outcome(second.seal())).toThrow(FileError);
  expect(messagesOn(found!)).toBe(1);
  const third = await openTestQuarantine(found!);
  expect([third.damage, await bodies(third)]).toEqual([[], []]);
  await third.seal();
  expect(messagesOn(found!.crash())).toBe(0);
});

test("replace() hides no failed sync, which concerns the messages in the directory too", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  const { files: messageFiles } = opened.messages;
  await opened.quarantine.put([refused("a")]);
  await messageFiles.settle();
  files.failNext("syncDirectory", "EIO");
  const note = new TextEncoder().encode("{}");
  expect(await outcome(messageFiles.replace("expiry.json", note))).toThrow(FileError);
  await sealForGood(opened);
  const found = files.crash();
  expect(await bodies(await openTestQuarantine(found))).toEqual(["in a new segment", "a"]);
  expect(found.contents().get(`${DIRECTORY}/expiry.json`)).toEqual(note);
});
