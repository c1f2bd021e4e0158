import { expect, test } from "bun:test";
import { HeadFormat } from "../../../../src/lib/frames/head.ts";
import { fail, ok } from "../../../../src/lib/result.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import type { ServiceError } from "../../../../src/model/errors.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { outcome } from "../../../support/rejection.ts";
import { turns } from "../../../support/turns.ts";
import { ANY, APP, bodies, DAMAGED, DIRECTORY, openTestQuarantine, refused } from "./fixture.ts";

const HEAD_BYTES = 4144;
/** Behind the frame that says that a segment was begun. */
const FRAMES_AT = HEAD_BYTES + 24;
const OK = ok<void>(undefined);
const unavailable = (message: string) =>
  fail<ServiceError>({ kind: "unavailable", message, retryAfterSeconds: 30 });

function segmentPaths(files: SimulatedFiles): string[] {
  return [...files.contents().keys()].filter((path) => path.startsWith(DIRECTORY)).sort();
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
  const { quarantine } = await openTestQuarantine(files);
  expect(await quarantine.put([message])).toEqual(OK);
  await quarantine.close();
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
  const size = files.contents().get(segmentPaths(files)[0]!)!.length;
  // Neither when it came, nor what we made of it, nor where it stood makes another of it.
  expect(await quarantine.put([{ ...first, arrivedMs: 5000, reason: "future", index: 7 }])).toEqual(OK);
  expect(files.contents().get(segmentPaths(files)[0]!)!.length).toBe(size);
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
  await quarantine.close();
  const again = await openTestQuarantine(files);
  expect(again.quarantine.list(APP, ANY, 0, 10).entries.map(({ count }) => count)).toEqual([1, 1, 2]);
  expect(again.quarantine.list("rival" as AppId, ANY, 0, 10).total).toBe(1);
});

test("put() shares one sync among all that wait", async () => {
  const files = createSimulatedFiles();
  const scheduler = new Scheduler(() => 0); // On a busy machine preparing them could take several turns.
  const { quarantine } = await openTestQuarantine(files, { segmentBytesMax: 1 << 20, scheduler });
  await quarantine.put([refused("first")]);
  let syncs = 0;
  files.beforeOperation = (operation) => {
    if (operation === "sync") syncs++;
  };
  await Promise.all(Array.from({ length: 50 }, (_, n) => quarantine.put([refused(`body ${n}`)])));
  expect(syncs).toBeLessThanOrEqual(2);
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

test("put() refuses a key that has its share, and nobody else; what is deleted makes room", async () => {
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

  const again = await openTestQuarantine(files, { shares });
  expect(await again.quarantine.put([refused("d")])).toEqual(ofKey);
  const { id } = again.quarantine.list(APP, { ...ANY, deviceId: "a" }, 0, 1).entries[0]!;
  expect(await again.quarantine.delete(APP, [id])).toEqual({ ok: true, value: 1 });
  expect(await again.quarantine.put([refused("d")])).toEqual(OK);
});

test("put() lets the oldest of a broker's topic give way, since what is not kept would hold up other phones", async () => {
  const shares = { keyBytesMax: 3 * 1024, appBytesMax: 5 * 1024, bytesMax: 7 * 1024 };
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files, { shares });
  const put = (body: string, topic: string | null) =>
    opened.quarantine.put([refused(body, { keyId: topic === null ? "key_1" : "mqtt", topic })]);
  for (const body of ["a", "b", "c", "d"]) expect(await put(body, "owntracks/anna/pixel")).toEqual(OK);
  expect(await bodies(opened)).toEqual(["d", "c", "b"]);
  for (const body of ["e", "f"]) expect(await put(body, null)).toEqual(OK);
  expect(await put("g", "owntracks/bea/pixel")).toEqual(OK);
  expect(await bodies(opened)).toEqual(["g", "f", "e", "d", "c"]); // Of the app's brokers, and of no key.
  expect(opened.quarantine.totals).toMatchObject({ displaced: 2, refused: 0 });
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
  const { quarantine } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  files.capacityBytes = [...files.contents().values()].reduce((sum, { length }) => sum + length, 0);
  expect(await quarantine.put([refused("b")])).toEqual(unavailable("the disk is full"));
  const again = await openTestQuarantine(files);
  expect(await bodies(again)).toEqual(["a"]);
  expect(await again.quarantine.put([refused("a")])).toEqual(OK);
  expect(await again.quarantine.put([refused("c")])).toEqual(unavailable("the disk is full"));
  files.capacityBytes = Number.POSITIVE_INFINITY;
  expect(await again.quarantine.put([refused("c")])).toEqual(OK);
  expect(await bodies(again)).toEqual(["c", "a"]);
});

test("delete() works on a full disk where nothing of a segment stays", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files);
  await quarantine.put([refused("a"), refused("b")]);
  files.capacityBytes = 0;
  const ids = quarantine.list(APP, ANY, 0, 10).entries.map(({ id }) => id);
  expect(await quarantine.delete(APP, ids)).toEqual({ ok: true, value: 2 });
  expect((await openTestQuarantine(files.crash())).quarantine.totals.entries).toBe(0);
});

test("put() says of no entry that it is kept before what failed half way is settled", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  files.failNext("sync", "EIO");
  files.failNext("truncate", "EIO");
  files.failNext("replace", "EIO");
  expect((await quarantine.put([refused("b")])).ok).toBe(false);
  expect((await quarantine.put([refused("b")])).ok).toBe(false); // The disk can't tell what it has.
  expect(await quarantine.put([refused("b")])).toEqual(OK);
  expect(await bodies(await openTestQuarantine(files.crash()))).toEqual(["b", "a"]);
});

test("put() takes an entry of a killed process for kept only once the start has put it on the disk", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  files.beforeOperation = (operation) => {
    if (operation === "sync") return new Promise(() => {}); // Killed before its sync.
  };
  void quarantine.put([refused("b")]);
  await turns();
  files.beforeOperation = null;
  files.failNext("replace", "EIO");
  const again = await openTestQuarantine(files);
  expect(await bodies(again)).toEqual(["b", "a"]);
  files.failNext("replace", "EIO");
  expect((await again.quarantine.put([refused("b")])).ok).toBe(false);
  expect(await again.quarantine.put([refused("b")])).toEqual(OK);
  expect(await bodies(await openTestQuarantine(files.crash()))).toEqual(["b", "a"]);
});

test("segments that deletions leave with room are appended to again", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files);
  for (let round = 0; round < 40; round++) {
    await quarantine.put(Array.from({ length: 6 }, (_, n) => refused(`${round} ${n}`)));
    const { entries } = quarantine.list(APP, ANY, 0, 100);
    await quarantine.delete(
      APP,
      entries.slice(1).map(({ id }) => id),
    );
  }
  expect(segmentPaths(files).length).toBeLessThanOrEqual(4);
  expect(await bodies(await openTestQuarantine(files))).toEqual(["39 5"]);
});

test("openQuarantine() keeps all but the damaged entry, and sets its bytes aside by name", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files, { segmentBytesMax: 1 << 20 });
  await quarantine.put(["a", "b", "c"].map((body) => refused(body)));
  await quarantine.close();
  const contents = files.contents();
  const [path] = segmentPaths(files) as [string];
  const frameBytes = (contents.get(path)!.length - FRAMES_AT) / 3;
  contents.get(path)![FRAMES_AT + frameBytes + 30]! ^= 1;
  const damaged = createSimulatedFiles(contents);
  const opened = await openTestQuarantine(damaged);
  expect(await bodies(opened)).toEqual(["c", "a"]);
  expect(opened.damage).toMatchObject([{ file: path, offset: FRAMES_AT + frameBytes, bytes: frameBytes }]);
  expect(opened.damage[0]!.savedAs).toStartWith(DAMAGED);
  expect(damaged.contents().get(opened.damage[0]!.savedAs!)?.length).toBe(frameBytes);
  expect((await openTestQuarantine(damaged)).damage).toEqual([]);
});

test("openQuarantine() cuts off a write that never ended, and calls it no damage", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  const contents = files.contents();
  const [path] = segmentPaths(files) as [string];
  contents.set(path, new Uint8Array([...contents.get(path)!, ...new Uint8Array(40).fill(7)]));
  const opened = await openTestQuarantine(createSimulatedFiles(contents));
  expect([opened.damage, opened.tornTail?.bytes, await bodies(opened)]).toEqual([[], 40, ["a"]]);
});

test("openQuarantine() sets a segment aside whole that has lost both headers, and goes on without it", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  const contents = files.contents();
  const [path] = segmentPaths(files) as [string];
  const whole = contents.get(path)!.fill(0xff, 0, HEAD_BYTES).slice();
  const damaged = createSimulatedFiles(contents);
  const opened = await openTestQuarantine(damaged);
  expect(opened.damage).toMatchObject([{ file: path, offset: 0, bytes: whole.length }]);
  expect(damaged.contents().get(opened.damage[0]!.savedAs!)).toEqual(whole);
  expect(await opened.quarantine.put([refused("b")])).toEqual(OK);
  expect(await bodies(await openTestQuarantine(damaged.crash()))).toEqual(["b"]);
});

test("openQuarantine() names a segment that can't be read, and goes on beside it", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  files.failNext("read", "EIO");
  const opened = await openTestQuarantine(files);
  expect(opened.damage).toMatchObject([{ file: segmentPaths(files)[0]!, savedAs: null }]);
  expect(await opened.quarantine.put([refused("b")])).toEqual(OK);
  expect(await bodies(await openTestQuarantine(files))).toEqual(["b", "a"]);
});

test("openQuarantine() leaves what a newer program wrote as it is", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  const contents = files.contents();
  const [path] = segmentPaths(files) as [string];
  contents.set(path, new HeadFormat("WHEREQRN", 2, "quarantine segment").encode(0, new Uint8Array(8)));
  const newer = createSimulatedFiles(contents);
  expect(await outcome(openTestQuarantine(newer))).toThrow(FormatVersionError);
  expect(newer.contents()).toEqual(contents);
});

test("sweep() deletes what came last before an instant", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  const { quarantine } = opened;
  await quarantine.put([refused("old", { arrivedMs: 1000 }), refused("repeated", { arrivedMs: 1000 })]);
  await quarantine.put([refused("repeated", { arrivedMs: 3000 }), refused("new", { arrivedMs: 2000 })]);
  await quarantine.sweep(2000);
  expect(await bodies(opened)).toEqual(["new", "repeated"]);
  // And what it has counted lasts without a close.
  const again = await openTestQuarantine(files.crash());
  expect(again.quarantine.list(APP, ANY, 0, 10).entries.map(({ count }) => count)).toEqual([1, 2]);
});

test("sweep() lets others have a turn after each segment, and keeps what comes again meanwhile", async () => {
  const opened = await openTestQuarantine(createSimulatedFiles());
  const { quarantine } = opened;
  const names = Array.from({ length: 30 }, (_, index) => `m${index}`);
  await quarantine.put(names.map((name) => refused(name, { arrivedMs: 1000 })));
  const sweeping = quarantine.sweep(2000);
  const putting = quarantine.put([refused("m29", { arrivedMs: 3000 })]); // Of the last segment, in the same turn.
  await Promise.all([sweeping, putting]);
  expect(await bodies(opened)).toEqual(["m29"]);
});

test("put() keeps anew what comes again while it is on its way out", async () => {
  for (const step of ["read", "replace"]) {
    const files = createSimulatedFiles();
    const opened = await openTestQuarantine(files);
    const { quarantine } = opened;
    await quarantine.put([refused("a"), refused("b")]);
    const ids = quarantine.list(APP, ANY, 0, 10).entries.map(({ id }) => id);
    const puts: Promise<unknown>[] = [];
    files.beforeOperation = async (operation) => {
      if (operation !== step || puts.length > 0) return;
      puts.push(quarantine.put([refused("c"), refused("a")]));
      await turns(); // Until it is looked for.
    };
    expect(await quarantine.delete(APP, ids)).toEqual({ ok: true, value: 2 });
    files.beforeOperation = null;
    expect(await Promise.all(puts)).toEqual([OK]);
    expect(await bodies(opened)).toEqual(["a", "c"]);
    expect(await bodies(await openTestQuarantine(files.crash()))).toEqual(["a", "c"]);
  }
});

test("put() counts what comes again where it could not be deleted", async () => {
  const files = createSimulatedFiles();
  const opened = await openTestQuarantine(files);
  const { quarantine } = opened;
  await quarantine.put([refused("a")]);
  const [entry] = quarantine.list(APP, ANY, 0, 10).entries;
  files.failNext("replace", "EIO");
  const deleted = quarantine.delete(APP, [entry!.id]);
  expect(await quarantine.put([refused("a")])).toEqual(OK);
  expect((await deleted).ok).toBe(false);
  expect(quarantine.list(APP, ANY, 0, 10).entries.map(({ count }) => count)).toEqual([2]);
  expect(await bodies(await openTestQuarantine(files.crash()))).toEqual(["a"]);
});

test("find() reads one segment after the other, however many ask", async () => {
  const files = createSimulatedFiles();
  const { quarantine } = await openTestQuarantine(files);
  await quarantine.put([refused("a")]);
  const [entry] = quarantine.list(APP, ANY, 0, 10).entries;
  let reading = 0;
  files.beforeOperation = async (operation) => {
    if (operation !== "read") return;
    expect(++reading).toBe(1);
    await turns();
    reading--;
  };
  await Promise.all([1, 2, 3].map(() => quarantine.find(APP, entry!.id)));
});
