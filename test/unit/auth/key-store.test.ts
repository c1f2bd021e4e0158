import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyText } from "../../../src/auth/api-key.ts";
import type { KeyRecord } from "../../../src/auth/key-file.ts";
import {
  type KeySpec,
  type KeyStore,
  MADE_DEVICES_MAX,
  MADE_KEYS_MAX,
  type NewKey,
  openKeyStore,
} from "../../../src/auth/key-store.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { FileError } from "../../../src/runtime/files.ts";
import { createMemoryKeyFiles, createMemoryLock } from "./memory-key-files.ts";
import { SPEC } from "./test-keys.ts";

function createBench() {
  const files = createMemoryKeyFiles();
  const clock = createManualClock(1_700_000_000_000);
  const acquireLock = createMemoryLock();
  const process = { pid: 1, command: "keys create" };
  const open = () => openKeyStore({ files, path: "data/keys.json", clock, acquireLock, process });
  return { files, clock, acquireLock, open };
}

async function createKey(store: KeyStore, spec: Partial<KeySpec> = {}) {
  const created = await store.create({ ...SPEC, ...spec });
  if (!created.ok) throw new Error(created.error.kind);
  return created.value;
}

test("create() makes a key that find() knows, here and in a store opened later", async () => {
  const { open } = createBench();
  const store = await open();
  expect(store.state).toBe("missing");
  const { key, text } = await createKey(store);
  expect(store.state).toBe("ok");
  expect(store.find(text)).toEqual({ kind: "known", key });
  expect((await open()).find(text)).toEqual({ kind: "known", key });
  expect(key.lastFour).toBe(text.slice(-4));
});

test("create() keeps whom a key is bound to", async () => {
  const { open } = createBench();
  const binding = { deviceId: "pixel7", userId: "anna" };
  const { text } = await createKey(await open(), binding);
  expect((await open()).find(text)).toMatchObject({ kind: "known", key: binding });
});

test("a file of another version is left as it is: every key is unknown, and none can be made", async () => {
  const { files, open } = createBench();
  const { text } = await createKey(await open());
  const { keys } = JSON.parse(new TextDecoder().decode(files.bytes!));
  for (const version of [3, 5]) {
    const bytes = new TextEncoder().encode(JSON.stringify({ version, keys }));
    files.bytes = bytes;
    const store = await open();
    expect(store.state).toMatchObject({ damaged: expect.stringContaining(`format version ${version} of a`) });
    expect(store.find(text)).toEqual({ kind: "unknown" });
    expect(await store.create(SPEC)).toMatchObject({ ok: false, error: { kind: "file_damaged" } });
    expect(files.bytes).toBe(bytes);
  }
});

test("create() keeps nothing of the key's text but its last characters", async () => {
  const { files, open } = createBench();
  const { text } = await createKey(await open());
  expect(new TextDecoder().decode(files.bytes!)).not.toContain(text.slice(3, 20));
});

test("find() tells unknown, revoked and expired keys apart", async () => {
  const { clock, open } = createBench();
  const store = await open();
  const revoked = await createKey(store);
  const expiring = await createKey(store, { expiresMs: clock.nowMs() + 1000 });
  expect(await store.revoke(revoked.key.id)).toMatchObject({ ok: true, value: { revokedMs: clock.nowMs() } });
  expect(store.find(revoked.text)).toEqual({ kind: "revoked" });
  expect(store.find(expiring.text).kind).toBe("known");
  clock.advance(1000);
  expect(store.find(expiring.text)).toEqual({ kind: "expired" });
  expect(store.find(createKeyText())).toEqual({ kind: "unknown" });
  expect(store.find("")).toEqual({ kind: "unknown" });
});

test("revoke() keeps the first time, and names an id that no key has", async () => {
  const { clock, open } = createBench();
  const store = await open();
  const { key } = await createKey(store);
  const first = await store.revoke(key.id);
  clock.advance(5000);
  expect(await store.revoke(key.id)).toEqual(first);
  expect(await store.revoke("k_nosuchid")).toEqual({
    ok: false,
    error: { kind: "key_not_found", id: "k_nosuchid" },
  });
});

test("reload() sees what another process changed, and loses every key to a damaged or missing file", async () => {
  const { files, open } = createBench();
  const server = await open();
  const { text } = await createKey(await open());
  expect(server.find(text).kind).toBe("unknown");
  await server.reload();
  expect(server.find(text).kind).toBe("known");

  const good = files.bytes;
  files.bytes = good!.subarray(0, 50);
  await server.reload();
  expect(server.state).toEqual({ damaged: "it is not a JSON object" });
  expect(server.find(text).kind).toBe("unknown");

  files.bytes = good;
  files.readError = "EIO";
  await server.reload();
  expect(server.state).toEqual({ damaged: 'Cannot read "data/keys.json": the disk failed (EIO)' });
  expect(server.find(text).kind).toBe("unknown");

  files.readError = null;
  await server.reload();
  expect(server.find(text).kind).toBe("known");

  files.bytes = null;
  await server.reload();
  expect(server.state).toBe("missing");
  expect(server.find(text).kind).toBe("unknown");
});

test("create() and revoke() leave a damaged or newer file untouched", async () => {
  for (const content of ["garbage", '{"version":5,"keys":[]}']) {
    const { files, open } = createBench();
    const bytes = new TextEncoder().encode(content);
    files.bytes = bytes;
    const store = await open();
    expect(await store.create(SPEC)).toMatchObject({ ok: false, error: { kind: "file_damaged" } });
    expect(await store.revoke("k_00000000")).toMatchObject({
      ok: false,
      error: { kind: "file_damaged" },
    });
    expect(files.bytes).toBe(bytes);
  }
});

test("create() waits for another process that is changing the keys, and works on what that one wrote", async () => {
  const { acquireLock, open } = createBench();
  const [first, second] = [await open(), await open()];
  const lock = await acquireLock("data/keys.json.lock", { pid: 7, command: "other", sinceMs: 0 });
  if (!lock.ok) throw new Error("The lock is free.");
  const both = [createKey(first), createKey(second)];
  lock.release();
  await Promise.all(both);
  expect((await open()).list()).toHaveLength(2);
});

test("create() loses no key when several processes create keys at once", async () => {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-keys-"));
  const script = join(import.meta.dir, "create-keys.ts");
  const path = join(directory, "keys.json");
  const started = [0, 1, 2].map(() =>
    Bun.spawn([process.execPath, script, path, "8"], { stderr: "inherit" }),
  );
  for (const child of started) expect(await child.exited).toBe(0);
  const content = await Bun.file(path).json();
  expect(new Set(content.keys.map((key: { id: string }) => key.id)).size).toBe(24);
  rmSync(directory, { recursive: true });
});

test("reload() keeps the keys where the file can't be opened for want of descriptors", async () => {
  const { files, open } = createBench();
  const store = await open();
  const { text } = await createKey(store);
  const read = files.read;
  files.read = async (path) => {
    throw new FileError("open", path, "EMFILE");
  };
  await store.reload();
  expect(store.find(text).kind).toBe("known");
  files.read = read;
});

async function makeKey(store: KeyStore, makerId: string, spec: Partial<KeySpec> = {}) {
  const made = await store.make(makerId, { ...SPEC, ...spec });
  if (!made.ok) throw new Error(made.error.kind);
  return made.value;
}

test("make() makes a key that ends with its maker, however that ends, and knows it by id too", async () => {
  const { clock, files, open } = createBench();
  const store = await open();
  const revoked = await createKey(store);
  const expiring = await createKey(store, { expiresMs: clock.nowMs() + 1000 });
  const gone = await createKey(store);
  const made: NewKey[] = [];
  for (const { key } of [revoked, expiring, gone]) made.push(await makeKey(store, key.id));
  const kinds = () => made.map(({ key, text }) => [store.find(text).kind, store.findById(key.id).kind]);
  expect(made[0]!.key.makerId).toBe(revoked.key.id);
  expect(kinds()).toEqual(made.map(() => ["known", "known"]));
  await store.revoke(revoked.key.id);
  clock.advance(1000);
  const content = JSON.parse(new TextDecoder().decode(files.bytes!));
  content.keys = content.keys.filter(({ id }: KeyRecord) => id !== gone.key.id);
  files.bytes = new TextEncoder().encode(JSON.stringify(content));
  await store.reload();
  expect(kinds().map(([byText]) => byText!)).toEqual(["revoked", "expired", "unknown"]);
  expect(kinds().map(([, byId]) => byId!)).toEqual(["revoked", "expired", "unknown"]);
});

test("a key ends with whoever stands above its maker, and one that makes itself in the end is unknown", async () => {
  const { files, open } = createBench();
  const store = await open();
  const first = await createKey(store);
  const second = await makeKey(store, first.key.id);
  const third = await makeKey(store, second.key.id);
  expect(store.find(third.text).kind).toBe("known");
  await store.revoke(first.key.id);
  expect([store.find(second.text).kind, store.find(third.text).kind]).toEqual(["revoked", "revoked"]);

  const content = JSON.parse(new TextDecoder().decode(files.bytes!));
  content.keys[0] = { ...content.keys[0], makerId: third.key.id, revokedMs: null };
  files.bytes = new TextEncoder().encode(JSON.stringify(content));
  await store.reload();
  for (const { text } of [first, second, third]) expect(store.find(text).kind).toBe("unknown");
});

test("make() makes nothing for a key that has ended, nor more than a hundred that live", async () => {
  const { clock, open } = createBench();
  const store = await open();
  const { key: maker } = await createKey(store);
  const short = await makeKey(store, maker.id, { expiresMs: clock.nowMs() + 1000 });
  for (let i = 1; i < MADE_KEYS_MAX; i++) await makeKey(store, maker.id);
  expect(await store.make(maker.id, SPEC)).toEqual({ ok: false, error: { kind: "too_many_keys" } });
  const other = await createKey(store);
  expect((await store.make(other.key.id, SPEC)).ok).toBe(true);
  clock.advance(1000);
  expect(store.find(short.text).kind).toBe("expired");
  expect((await store.make(maker.id, SPEC)).ok).toBe(true);
  await store.revoke(maker.id);
  expect(await store.make(maker.id, SPEC)).toEqual({ ok: false, error: { kind: "maker_ended" } });
  expect(await store.make("k_00000000", SPEC)).toEqual({ ok: false, error: { kind: "maker_ended" } });
});

test("make() makes no link beyond a thousand devices of all that live, and keeps as many of those that ended", async () => {
  const { open } = createBench();
  const store = await open();
  const { key: maker } = await createKey(store);
  const linkTo = (count: number): Partial<KeySpec> => {
    const deviceIds = Array.from({ length: count }, (_, number) => `bus-${number}` as DeviceId);
    const view = { deviceIds, notBeforeMs: 0, precisionMeters: null };
    return { permissions: ["view"], view, expiresMs: 1_800_000_000_000 };
  };
  const tooMany = { ok: false, error: { kind: "too_many_keys" } } as const;
  const first = await makeKey(store, maker.id, linkTo(1));
  expect(await store.make(maker.id, { ...SPEC, ...linkTo(MADE_DEVICES_MAX) })).toEqual(tooMany);
  const others = await makeKey(store, maker.id, linkTo(MADE_DEVICES_MAX - 1));
  expect(await store.make(maker.id, { ...SPEC, ...linkTo(1) })).toEqual(tooMany);
  await makeKey(store, maker.id); // A phone's shows none.

  await store.revoke(first.key.id);
  await store.revoke(others.key.id);
  const last = await makeKey(store, maker.id, linkTo(MADE_DEVICES_MAX));
  expect(store.find(first.text).kind).toBe("revoked");
  await store.revoke(last.key.id);
  await makeKey(store, maker.id, linkTo(1));
  expect([first, others, last].map(({ text }) => store.find(text).kind)).toEqual([
    "unknown",
    "unknown",
    "revoked",
  ]);
});
