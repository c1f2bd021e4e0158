import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { fail, ok } from "../../../../src/lib/result.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import type { ServiceError } from "../../../../src/model/errors.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { outcome } from "../../../support/rejection.ts";
import { turns } from "../../../support/turns.ts";
import { ANY, APP, bodies, DAMAGED, DIRECTORY, openTestQuarantine, refused } from "./fixture.ts";

const OK = ok<void>(undefined);
const unavailable = (message: string) =>
  fail<ServiceError>({ kind: "unavailable", message, retryAfterSeconds: 30 });

function messagePaths(files: SimulatedFiles): string[] {
  return [...files.contents().keys()].filter((path) => path.startsWith(`${DIRECTORY}/`)).sort();
}

test("put() keeps a message as it was, through a restart", async () => {
  const files = createSimulatedFiles();
  const body = new Uint8Array([0, 255, 10, 13, 200]);
  const message = refused("x", {
    body,
    query: "a=1&b=%00",
    user: "Änna",
    index: null,
    headers: { "x-limit-u": "u" },
  });
  const { quarantine, close } = await openTestQuarantine(files);
  expect(await quarantine.put([message])).toEqual(OK);
  await close();
  const again = await openTestQuarantine(files);
  const [entry] = again.quarantine.list(APP, ANY, 0, 10).entries;
  expect(entry).toMatchObject({ keyId: "key_1", deviceId: "x", index: null, bodyBytes: 5, count: 1 });
  expect(await again.quarantine.find(APP, entry!.id)).toMatchObject({ message, summary: { id: entry!.id } });
});

test("put() keeps the same message of the same key once, and counts it", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  const { quarantine } = opened;
  const first = refused("same", { arrivedMs: 1000 });
  await quarantine.put([first, refused("other")]);
  const { bytes } = opened.wal;
  // Neither when it came, nor what we made of it, nor where it stood makes another of it.
  expect(await quarantine.put([{ ...first, arrivedMs: 5000, reason: "future", index: 7 }])).toEqual(OK);
  expect(opened.wal.bytes).toBe(bytes);
  await quarantine.put([{ ...first, keyId: "key_2" }]);
  await quarantine.put([{ ...first, appId: "rival" as AppId }]);
  const counts = () =>
    opened.quarantine
      .list(APP, ANY, 0, 10)
      .entries.map(({ keyId, count, lastArrivedMs }) => [keyId, count, lastArrivedMs]);
  expect(counts()).toEqual([
    ["key_2", 1, 1000],
    ["key_1", 1, refused("").arrivedMs],
    ["key_1", 2, 5000],
  ]);
  await opened.close();
  for (const step of ["replay", "archive", "archive and replay"]) {
    const again = await openTestQuarantine(files);
    expect([step, ...again.quarantine.list(APP, ANY, 0, 10).entries.map(({ count }) => count)]).toEqual([
      step,
      ...[1, 1, 2],
    ]);
    await again.seal();
    await again.close();
  }
  const again = await openTestQuarantine(files.crash());
  expect(again.quarantine.list("rival" as AppId, ANY, 0, 10).total).toBe(1);
});

test("put() shares one sync among all that wait", async () => {
  const files = createSimulatedFiles();
  const scheduler = new Scheduler(() => 0); // On a busy machine preparing them could take several turns.
  const { quarantine, wal } = await openTestQuarantine(files, { segmentBytesMax: 1 << 20, scheduler });
  await quarantine.put([refused("first")]);
  let syncs = 0;
  files.beforeOperation = (operation) => {
    if (operation === "sync") syncs++;
  };
  await Promise.all(Array.from({ length: 50 }, (_, n) => quarantine.put([refused(`body ${n}`)])));
  expect(syncs).toBeLessThanOrEqual(2);
  expect(wal.lastSequence).toBe(51);
});

test("list() shows what it is asked for, the newest first, and of the app alone", async () => {
  const { quarantine } = await openTestQuarantine(createSimulatedFiles());
  await quarantine.put(["a", "b", "c", "d"].map((body) => refused(body)));
  await quarantine.put([refused("e", { client: "owntracks", reason: "future", deviceId: "phone" })]);
  await quarantine.put([refused("f", { appId: "rival" as AppId })]);
  const devices = (filter: object, offset = 0, limit = 10) => {
    const { entries, total } = quarantine.list(APP, { ...ANY, ...filter }, offset, limit);
    return [total, ...entries.map(({ deviceId }) => deviceId)];
  };
  expect(devices({})).toEqual([5, "phone", "d", "c", "b", "a"]);
  expect(devices({}, 1, 2)).toEqual([5, "d", "c"]);
  expect(devices({ client: "owntracks" })).toEqual([1, "phone"]);
  expect(devices({ reason: "future" })).toEqual([1, "phone"]);
  expect(devices({ deviceId: "c" })).toEqual([1, "c"]);
  expect(devices({ client: "osmand" })).toEqual([0]);
  const [{ id } = { id: "" }] = quarantine.list("rival" as AppId, ANY, 0, 1).entries;
  expect(await quarantine.find(APP, id)).toBeNull();
  expect(await quarantine.delete(APP, [id])).toEqual({ ok: true, value: 0 });
  expect(quarantine.apps()).toEqual([APP, "rival" as AppId]);
});

test("put() refuses a key that has its share, and no other key; what is deleted makes room after a seal", async () => {
  const shares = { keyBytesMax: 3 * 1024, appBytesMax: 5 * 1024, bytesMax: 7 * 1024 };
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files, { shares });
  const put = (body: string, changes = {}) => quarantine.put([refused(body, changes)]);
  for (const body of ["a", "b", "c"]) expect(await put(body)).toEqual(OK);
  const ofKey = unavailable("unusable input from this key fills its share of the quarantine");
  expect(await put("d")).toEqual(ofKey);
  expect(await put("a")).toEqual(OK); // It is there already.
  for (const body of ["d", "e"]) expect(await put(body, { keyId: "key_2" })).toEqual(OK);
  const ofApp = unavailable("unusable input from this app fills its share of the quarantine");
  expect(await put("f", { keyId: "key_2" })).toEqual(ofApp);
  for (const body of ["a", "b"]) expect(await put(body, { appId: "rival" })).toEqual(OK);
  expect(await put("c", { appId: "rival" })).toEqual(unavailable("the quarantine is full"));
  expect(quarantine.totals).toMatchObject({ entries: 7, bytes: 7 * 1024, bytesMax: 7 * 1024, refused: 3 });

  let wantedSeals = 0;
  const again = await openTestQuarantine(files, { shares, sealSoon: () => wantedSeals++ });
  expect(await again.quarantine.put([refused("d")])).toEqual(ofKey);
  expect(wantedSeals).toBe(0);
  const { id } = again.quarantine.list(APP, { ...ANY, deviceId: "a" }, 0, 1).entries[0]!;
  expect(await again.quarantine.delete(APP, [id])).toEqual({ ok: true, value: 1 });
  expect(await again.quarantine.put([refused("d")])).toEqual(ofKey); // The log still has it.
  expect(wantedSeals).toBeGreaterThan(0);
  await again.seal();
  expect(await again.quarantine.put([refused("d")])).toEqual(OK);
});

test("put() and delete() acknowledge nothing that only memory shows, because the log failed at the start", async () => {
  const files = createSimulatedFiles();
  const first = await openTestQuarantine(files);
  expect(await first.quarantine.put([refused("b")])).toEqual(OK);
  files.failNext("sync", "EIO");
  const refusal = unavailable("the quarantine can't be written");
  expect(await first.quarantine.put([refused("a")])).toEqual(refusal);
  files.failNext("replace", "EIO");
  const { quarantine, wal } = await openTestQuarantine(files);
  expect(wal.state).toBe("failed");
  const [entry] = quarantine.list(APP, ANY, 0, 10).entries;
  expect(entry).toMatchObject({ deviceId: "a" });
  expect(await quarantine.put([refused("a")])).toEqual(refusal);
  expect(await quarantine.delete(APP, ["0".repeat(32)])).toEqual(refusal);
});

test("put() lets the oldest of a broker's topic give way, since what is not kept would hold up other phones", async () => {
  const shares = { keyBytesMax: 3 * 1024, appBytesMax: 5 * 1024, bytesMax: 9 * 1024 };
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files, { shares });
  const put = (body: string, topic: string | null) =>
    opened.quarantine.put([refused(body, { keyId: topic === null ? "key_1" : "mqtt", topic })]);
  for (const body of ["a", "b", "c", "d"]) expect(await put(body, "owntracks/anna/pixel")).toEqual(OK);
  expect(await bodies(opened)).toEqual(["d", "c", "b"]);
  expect(await put("e", null)).toEqual(OK);
  expect((await put("f", null)).ok).toBe(false); // The log still has the one that gave way.
  await opened.seal();
  expect(await put("f", null)).toEqual(OK);
  expect(await put("g", "owntracks/bea/pixel")).toEqual(OK);
  expect(await bodies(opened)).toEqual(["g", "f", "e", "d", "c"]); // Of the app's brokers, and of no key.
  expect(opened.quarantine.totals).toMatchObject({ displaced: 2, refused: 1 });
  expect((await put("h", null)).ok).toBe(false);

  const again = await openTestQuarantine(files, { shares });
  expect(await bodies(again)).toEqual(["g", "f", "e", "d", "c"]);
  const more = refused("i", { keyId: "mqtt", topic: "owntracks/anna/pixel" });
  expect(await again.quarantine.put([more])).toEqual(OK);
  expect(await bodies(again)).toEqual(["i", "g", "f", "e", "d"]);
});

test("put() makes no more room than it needs where others fill the quarantine", async () => {
  const shares = { keyBytesMax: 64 * 1024, appBytesMax: 64 * 1024, bytesMax: 10 * 1024 };
  const opened = await openTestQuarantine(createSimulatedFiles(), { shares });
  const topic = { keyId: "mqtt", topic: "owntracks/anna/pixel" };
  for (const body of ["a", "b", "c", "d", "e"]) await opened.quarantine.put([refused(body, topic)]);
  const rival = { appId: "rival" as AppId };
  for (const body of ["a", "b", "c", "d", "e"]) await opened.quarantine.put([refused(body, rival)]);
  await opened.seal();
  expect(await opened.quarantine.put([refused("f", topic)])).toEqual(OK);
  expect(await bodies(opened)).toEqual(["f", "e", "d", "c", "b"]);
  expect(opened.quarantine.totals).toMatchObject({ displaced: 1, refused: 0 });
});

test("put() waits with what a broker brings where others fill the quarantine", async () => {
  const shares = { keyBytesMax: 2048, appBytesMax: 2048, bytesMax: 2048 };
  const { quarantine } = await openTestQuarantine(createSimulatedFiles(), { shares });
  const rival = { appId: "rival" as AppId };
  await quarantine.put([refused("a", rival), refused("b", rival)]);
  const put = quarantine.put([refused("c", { keyId: "mqtt", topic: "owntracks/anna/pixel" })]);
  expect(await put).toEqual(unavailable("the quarantine is full"));
});

test("put() takes one message of a key that has nothing there, however large it is", async () => {
  const shares = { keyBytesMax: 2048, appBytesMax: 1 << 20, bytesMax: 1 << 20 };
  const opened = await openTestQuarantine(createSimulatedFiles(), { shares });
  const long = "x".repeat(10_000);
  expect(await opened.quarantine.put([refused(long)])).toEqual(OK);
  expect((await opened.quarantine.put([refused("y")])).ok).toBe(false);
  expect(await bodies(opened)).toEqual([long]);
});

test("put() goes on by itself once a full disk has room, and a start waits for none", async () => {
  const files = createSimulatedFiles();
  const { quarantine, messages } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  await messages.files.settle();
  files.capacityBytes = [...files.contents().values()].reduce((sum, { length }) => sum + length, 0);
  expect(await quarantine.put([refused("b")])).toEqual(unavailable("the disk is full"));
  const again = await openTestQuarantine(files);
  expect(await bodies(again)).toEqual(["a"]);
  files.capacityBytes = Number.POSITIVE_INFINITY;
  expect(await again.quarantine.put([refused("c")])).toEqual(OK);
  expect(await bodies(again)).toEqual(["c", "a"]);
});

test("put() refuses while a file of an earlier message can't be written, and a seal covers nothing", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  let isRefusing = true;
  files.beforeOperation = (operation, path) => {
    if (isRefusing && operation === "openAppend" && path.startsWith(`${DIRECTORY}/`))
      throw new FileError(operation, path, "EIO");
  };
  expect(await opened.quarantine.put([refused("a")])).toEqual(OK); // The log has it.
  expect(await opened.quarantine.put([refused("b")])).toEqual(unavailable("the quarantine can't be written"));
  expect(await bodies(opened)).toEqual(["a"]);
  expect(await outcome(opened.seal())).toThrow(FileError);
  isRefusing = false;
  expect(await opened.quarantine.put([refused("b")])).toEqual(OK);
  await opened.seal();
  expect(await bodies(await openTestQuarantine(files.crash()))).toEqual(["b", "a"]);
});

test("a message is in its file alone once a seal has covered it, and a deleted one is nowhere", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files, { segmentBytesMax: 8 * 1024 });
  const holders = (text: string) =>
    [...files.contents()].filter(([, bytes]) => Buffer.from(bytes).includes(text)).map(([path]) => path);
  await opened.quarantine.put([refused("stays here"), refused("goes away")]);
  await opened.messages.files.settle();
  expect(holders("goes away").length).toBe(2);
  const { entries } = opened.quarantine.list(APP, { ...ANY, deviceId: "goes away" }, 0, 1);
  await opened.quarantine.delete(APP, [entries[0]!.id]);
  await opened.seal();
  await opened.quarantine.put([refused("another")]); // In a new segment: the newest is never removed.
  await opened.seal();
  expect(holders("goes away")).toEqual([]);
  expect(holders("stays here")).toEqual(messagePaths(files).slice(0, 1));
});

test("a long message is in the log in pieces, and without the last one it has no effect", async () => {
  const files = createSimulatedFiles();
  const body = "long ".repeat(2000);
  const opened = await openTestQuarantine(files, { entryBytesMax: 2048 });
  expect(await opened.quarantine.put([refused(body)])).toEqual(OK);
  expect(opened.wal.lastSequence).toBeGreaterThan(6);
  expect(await bodies(opened)).toEqual([body]);

  const half = createSimulatedFiles();
  const { quarantine, wal } = await openTestQuarantine(half, { entryBytesMax: 2048 });
  half.beforeOperation = (operation) => {
    if (operation === "sync" && wal.lastSequence === 4) return new Promise(() => {}); // Killed there.
  };
  void quarantine.put([refused(body)]);
  while (wal.lastSequence < 4) await turns();
  const again = await openTestQuarantine(half.crash(), { entryBytesMax: 2048 });
  expect(await bodies(again)).toEqual([]);
  await again.seal();
  expect(again.messages.snapshot().entries.length).toBe(4); // The rest might still come.
  expect(await again.quarantine.put([refused(`${body}!`)])).toEqual(OK);
  expect(again.messages.snapshot().entries).toEqual([]);
  expect(await bodies(again)).toEqual([`${body}!`]);
});

test("delete() lasts through a power failure, whatever has become of the file", async () => {
  const files = createSimulatedFiles();
  const { quarantine, seal } = await openTestQuarantine(files);
  await quarantine.put([refused("a"), refused("b")]);
  await seal();
  const ids = quarantine.list(APP, ANY, 0, 10).entries.map(({ id }) => id);
  expect(await quarantine.delete(APP, ids)).toEqual({ ok: true, value: 2 });
  const found = files.crash();
  expect(messagePaths(found).length).toBe(2);
  const again = await openTestQuarantine(found);
  expect(again.quarantine.totals.entries).toBe(0);
  await again.seal();
  expect(messagePaths(found.crash())).toEqual([]);
});

test("openMessages() keeps all but the damaged message, and sets its bytes aside by name", async () => {
  const files = createSimulatedFiles();
  const { quarantine, seal, close } = await openTestQuarantine(files);
  await quarantine.put(["a", "b", "c"].map((body) => refused(body)));
  await seal();
  await close();
  const contents = files.contents();
  const path = messagePaths(files)[1]!;
  const bytes = contents.get(path)!;
  bytes[40]! ^= 1;
  const damaged = createSimulatedFiles(contents);
  const opened = await openTestQuarantine(damaged);
  expect(await bodies(opened)).toEqual(["c", "a"]);
  expect(opened.damage).toMatchObject([{ file: path, offset: 0, bytes: bytes.length }]);
  expect(opened.damage[0]!.savedAs).toStartWith(DAMAGED);
  expect(damaged.contents().get(opened.damage[0]!.savedAs!)).toEqual(bytes);
  expect((await openTestQuarantine(damaged)).damage).toEqual([]);
});

test("openMessages() calls the rest of an interrupted write no damage: the log writes it anew", async () => {
  const files = createSimulatedFiles();
  const { quarantine, close } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  await close();
  const contents = files.contents();
  const [path] = messagePaths(files) as [string];
  const whole = contents.get(path)!;
  contents.set(path, whole.slice(0, 50));
  const found = createSimulatedFiles(contents);
  const opened = await openTestQuarantine(found);
  expect([opened.damage, await bodies(opened)]).toEqual([[], ["a"]]);
  await opened.messages.files.settle();
  expect(found.contents().get(path)).toEqual(whole);
});

test("openMessages() names a file that can't be read, and goes on beside it", async () => {
  const files = createSimulatedFiles();
  const { quarantine, seal, close } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  await seal();
  await close();
  const [path] = messagePaths(files) as [string];
  files.beforeOperation = (operation, each) => {
    if (operation === "read" && each === path) throw new FileError(operation, each, "EIO");
  };
  const opened = await openTestQuarantine(files);
  expect(opened.damage).toMatchObject([{ file: path, savedAs: null }]);
  expect(await opened.quarantine.put([refused("b")])).toEqual(OK);
  files.beforeOperation = null;
  expect(await bodies(await openTestQuarantine(files))).toEqual(["b", "a"]);
});

test("openMessages() leaves what another version of the program wrote as it is", async () => {
  const files = createSimulatedFiles();
  const { quarantine, close } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  await close();
  const contents = files.contents();
  const [path] = messagePaths(files) as [string];
  contents.get(path)![8] = 3;
  contents.get(path)![12]! ^= 1; // Its checksum is of another version too.
  const newer = createSimulatedFiles(contents);
  expect(await outcome(openTestQuarantine(newer))).toThrow(FormatVersionError);
  expect(newer.contents()).toEqual(contents);
  const older = createSimulatedFiles(new Map([[`${DIRECTORY}/000000000001.entries`, new Uint8Array(9)]]));
  expect(await outcome(openTestQuarantine(older))).toThrow(FormatVersionError);
});

test("a file that the log brings again under another sequence is kept once, at its new place", async () => {
  const files = createSimulatedFiles();
  const first = await openTestQuarantine(files);
  await first.quarantine.put(["a", "b"].map((body) => refused(body)));
  await first.close();
  // As `cluster init` does, which hands the log's entries to a stream.
  const contents = files.contents();
  for (const path of [...contents.keys()]) if (path.startsWith("/data/quarantine-wal")) contents.delete(path);
  const moved = createSimulatedFiles(contents);
  const again = await openTestQuarantine(moved);
  const [b, a] = await Promise.all(
    again.quarantine
      .list(APP, ANY, 0, 10)
      .entries.map(async ({ name, id }) => ({ id, content: await again.messages.files.read(name) })),
  );
  const pieces = [b!, a!].map(({ id, content }, index) => ({
    ...({ kind: "refused_piece", appId: APP, id, source: "", number: index, start: 0 } as const),
    ...{ totalBytes: content!.length, bytes: content! },
  }));
  pieces.forEach((piece, index) => {
    again.messages.apply(piece, 2048 + index);
  });
  expect(await bodies(again)).toEqual(["a", "b"]);
  expect(again.quarantine.list(APP, ANY, 0, 10).entries.map(({ count }) => count)).toEqual([1, 1]);
  await again.messages.files.settle();
  expect(messagePaths(moved).map((path) => path.slice(DIRECTORY.length + 1, DIRECTORY.length + 17))).toEqual([
    "0000000000002048",
    "0000000000002049",
  ]);
});

test("sweep() deletes what came last before an instant", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  const { quarantine } = opened;
  await quarantine.put([refused("old", { arrivedMs: 1000 }), refused("repeated", { arrivedMs: 1000 })]);
  await quarantine.put([refused("repeated", { arrivedMs: 3000 }), refused("new", { arrivedMs: 2000 })]);
  await quarantine.sweep(2000);
  expect(await bodies(opened)).toEqual(["new", "repeated"]);
  expect(await bodies(await openTestQuarantine(files.crash()))).toEqual(["new", "repeated"]);
});

test("put() keeps anew what comes again while it is on its way out", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  const { quarantine } = opened;
  await quarantine.put([refused("a"), refused("b")]);
  const ids = quarantine.list(APP, ANY, 0, 10).entries.map(({ id }) => id);
  const deleted = quarantine.delete(APP, ids);
  const put = quarantine.put([refused("c"), refused("a")]);
  expect(await deleted).toEqual({ ok: true, value: 2 });
  expect(await put).toEqual(OK);
  expect(await bodies(opened)).toEqual(["a", "c"]);
  expect(await bodies(await openTestQuarantine(files.crash()))).toEqual(["a", "c"]);
});

test("put() counts what comes again where it could not be deleted", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  const { quarantine } = opened;
  await quarantine.put([refused("a")]);
  const [entry] = quarantine.list(APP, ANY, 0, 10).entries;
  files.failNext("append", "ENOSPC");
  const deleted = quarantine.delete(APP, [entry!.id]);
  expect(await quarantine.put([refused("a")])).toEqual(OK);
  expect((await deleted).ok).toBe(false);
  expect(quarantine.list(APP, ANY, 0, 10).entries.map(({ count }) => count)).toEqual([2]);
  expect(await bodies(await openTestQuarantine(files.crash()))).toEqual(["a"]);
});

test("find() reads one file after the other, however many ask, and has no message of damaged bytes", async () => {
  const files = createSimulatedFiles();
  const { quarantine, messages } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  await messages.files.settle();
  const [entry] = quarantine.list(APP, ANY, 0, 10).entries;
  let reading = 0;
  files.beforeOperation = async (operation) => {
    if (operation !== "read") return;
    expect(++reading).toBe(1);
    await turns();
    reading--;
  };
  await Promise.all([1, 2, 3].map(() => quarantine.find(APP, entry!.id)));
  files.beforeOperation = null;
  const file = await files.openAppend(messagePaths(files)[0]!);
  await file.truncate(50);
  expect(await quarantine.find(APP, entry!.id)).toBeNull();
});

test("a seal whose sync fails covers nothing, and the next one does all of it again", async () => {
  for (const operation of ["sync", "syncDirectory"] as const) {
    const files = createSimulatedFiles();
    const opened = await openTestQuarantine(files);
    const { quarantine } = opened;
    await quarantine.put([refused("a"), refused("b")]);
    await opened.seal();
    const [entry] = quarantine.list(APP, { ...ANY, deviceId: "a" }, 0, 1).entries;
    await quarantine.delete(APP, [entry!.id]);
    await quarantine.put([refused("c")]);
    await opened.messages.files.settle();
    files.failNext(operation, "EIO");
    expect(await outcome(opened.seal())).toThrow(FileError);
    await opened.seal();
    await quarantine.put([refused("in a new segment")]);
    await opened.seal();
    const found = files.crash();
    expect(await bodies(await openTestQuarantine(found))).toEqual(["in a new segment", "c", "b"]);
    expect(messagePaths(found).length).toBe(3);
  }
});
