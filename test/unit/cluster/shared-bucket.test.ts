import { expect, test } from "bun:test";
import { watchSecrets } from "../../../src/app/secrets.ts";
import { type KeySpec, type KeyStore, openKeyStore } from "../../../src/auth/key-store.ts";
import { PassPhrases } from "../../../src/auth/pass-phrases.ts";
import { SessionSecret } from "../../../src/auth/session-secret.ts";
import { WebhookSecrets } from "../../../src/auth/webhook-secrets.ts";
import { SharedBucket, type SharedBucketTimes } from "../../../src/cluster/shared-bucket.ts";
import { StreamError } from "../../../src/cluster/stream/stream.ts";
import { Settings } from "../../../src/directory/settings.ts";
import { type SharedFileDependencies, watchFile } from "../../../src/directory/shared-file.ts";
import { CHANGE_RETRY_MS } from "../../../src/directory/shared-value.ts";
import { UNBOUND } from "../../../src/model/binding.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION, FixedRetention } from "../../../src/model/time/retention.ts";
import { outcome } from "../../support/rejection.ts";
import { SimulatedBucket, SimulatedValues } from "../../support/stream/simulated-bucket.ts";
import { VirtualTime } from "../../support/stream/virtual-time.ts";
import { until } from "../../support/until.ts";
import { createMemoryKeyFiles, createMemoryLock } from "../auth/memory-key-files.ts";

/*
 * Keys, settings, the secret of sessions and pass phrases of a cluster, over a simulated bucket: what one node changes
 * the others know; of what several change at once nothing is lost; and servers that can't be asked change nothing.
 */

const SPEC: KeySpec = {
  appId: "shop" as AppId,
  permissions: ["read"],
  view: null,
  tier: "standard",
  label: "",
  ...UNBOUND,
  expiresMs: null,
};

const TIMES = { askAgainMs: 60_000, watchAgainMs: 10 };
/** How long a request takes by a virtual clock. */
const TRAVEL_MS = 1;

/** A node's shared values, with its usual times for null; unexpected files would appear in `files`. */
function createNode(
  values: SimulatedValues = new SimulatedValues(),
  times: SharedBucketTimes | null = TIMES,
  time?: VirtualTime,
) {
  const bucket = new SimulatedBucket(values, time && (() => time.wait(TRAVEL_MS)));
  const shared = new SharedBucket(bucket, times ?? undefined, time);
  const files = createMemoryKeyFiles();
  const dependencies = (name: string): SharedFileDependencies => ({
    files,
    path: `/data/${name}`,
    clock: systemClock,
    acquireLock: createMemoryLock(),
    process: { pid: 1, command: "serve" },
    shared,
  });
  return {
    bucket,
    shared,
    files,
    openKeys: () => openKeyStore(dependencies("keys.json")),
    openSecret: () => SessionSecret.open(dependencies("session-secret")),
    openPassPhrases: () => PassPhrases.open(dependencies("pass-phrases.json")),
    openWebhookSecrets: () => WebhookSecrets.open(dependencies("webhook-secrets.json")),
    openSettings: () => Settings.open(dependencies("settings.json"), async () => DEFAULT_RETENTION),
  };
}

async function keyOf(store: KeyStore) {
  const created = await store.create(SPEC);
  if (!created.ok) throw new Error(`No key: ${created.error.kind}`);
  return created.value;
}

test("what one node changes, another knows by its next reload, and neither has a file of it", async () => {
  const values = new SimulatedValues();
  const [one, other] = [createNode(values), createNode(values)];
  const watch = other.shared.watch();
  const keys = [await one.openKeys(), await other.openKeys()] as const;
  const settings = [await one.openSettings(), await other.openSettings()] as const;
  const phrases = [await one.openPassPhrases(), await other.openPassPhrases()] as const;
  const secrets = [await one.openSecret(), await other.openSecret()] as const;
  expect([keys[1].state, settings[1].state, phrases[1].state, secrets[1].state]).toEqual(
    new Array(4).fill("missing"),
  );
  await until(() => other.bucket.watches);

  const { key, text } = await keyOf(keys[0]);
  await settings[0].setRetention(FixedRetention.ofDays(3653));
  const { appId } = key;
  await phrases[0].set({ keyId: key.id, appId, deviceId: null, text: "hunter2" });
  const signer = await secrets[0].obtain();
  await Promise.all([keys[1], settings[1], phrases[1], secrets[1]].map((store) => store.reload()));
  expect(keys[1].find(text)).toEqual({ kind: "known", key });
  expect(settings[1].retention.text).toBe("3653d");
  expect(phrases[1].boxKeys({ appId, keyId: key.id, deviceId: "pixel7" })).toHaveLength(1);
  expect(signer.ok && signer.value.secret).toEqual(secrets[1].signer!.secret);

  await keys[1].revoke(key.id);
  await keys[0].reload();
  await one.bucket.idle(); // The first node has no watch: it asks, and the next reload has the answer.
  await keys[0].reload();
  expect(keys[0].find(text).kind).toBe("revoked");
  expect([one.files.bytes, other.files.bytes]).toEqual([null, null]);
  expect([...values.entries.keys()].sort()).toEqual([
    "keys.json",
    "pass-phrases.json",
    "session-secret",
    "settings.json",
  ]);
  watch.stop();
});

test("a node with a watch does not send repeated requests", async () => {
  const { bucket, shared, openKeys } = createNode();
  const watch = shared.watch();
  const keys = await openKeys();
  for (let i = 0; i < 50; i++) await keys.reload();
  expect(bucket.gets).toBe(1);
  watch.stop();
});

test("no key is lost when nodes create keys concurrently, and each counts once", async () => {
  const values = new SimulatedValues();
  const nodes = Array.from({ length: 4 }, () => createNode(values));
  const stores = await Promise.all(nodes.map(({ openKeys }) => openKeys()));
  const created = await Promise.all([...stores, ...stores, ...stores].map(keyOf));
  const ids = created.map(({ key }) => key.id).sort();
  const reader = await createNode(values).openKeys();
  expect(
    reader
      .list()
      .map(({ id }) => id)
      .sort(),
  ).toEqual(ids);
  expect(new Set(ids).size).toBe(12);
});

test("one of three nodes that start a cluster concurrently creates the first key", async () => {
  for (let round = 0; round < 20; round++) {
    const values = new SimulatedValues();
    const stores = await Promise.all([1, 2, 3].map(() => createNode(values).openKeys()));
    const made = await Promise.all(stores.map((store) => store.createFirst(SPEC)));
    expect(made.filter(({ ok }) => ok)).toHaveLength(1);
    expect(made.filter((one) => !one.ok && one.error.kind === "keys_exist")).toHaveLength(2);
    expect((await createNode(values).openKeys()).list()).toHaveLength(1);
  }
});

test("three nodes that need the session secret concurrently get the same one", async () => {
  const values = new SimulatedValues();
  const secrets = await Promise.all([1, 2, 3].map(() => createNode(values).openSecret()));
  const signers = await Promise.all(secrets.map((secret) => secret.obtain()));
  const bytes = signers.map((signer) => signer.ok && Buffer.from(signer.value.secret).toString("hex"));
  expect(new Set(bytes).size).toBe(1);
  expect(values.entries.get("session-secret")!.value).toEqual(secrets[0]!.signer!.secret);
});

test("a retention that another node has set meanwhile is not set over", async () => {
  const values = new SimulatedValues();
  const nodes = [createNode(values), createNode(values)] as const;
  const [one, other] = await Promise.all(nodes.map((node) => node.openSettings()));
  await one!.setRetention(FixedRetention.ofDays(3653));
  expect(await other!.setRetention(FixedRetention.FOREVER)).toEqual({
    ok: false,
    error: { kind: "changed", text: "3653d" },
  });
  await other!.reload();
  await nodes[1].bucket.idle();
  await other!.reload();
  expect(await other!.setRetention(DEFAULT_RETENTION)).toMatchObject({ ok: true });
});

test("a change is decided again on what others have written, and given up after 5 s of them", async () => {
  const time = new VirtualTime();
  const { bucket, openKeys } = createNode(new SimulatedValues(), TIMES, time);
  const store = await time.until(openKeys());
  bucket.conflicts = 3;
  bucket.values.write("keys.json", new TextEncoder().encode('{"version": 4, "keys": []}'));
  await time.until(keyOf(store));
  expect([bucket.updates, store.list().length]).toEqual([4, 1]);

  bucket.conflicts = Number.POSITIVE_INFINITY;
  const begunMs = time.nowMs();
  expect(await time.until(store.create(SPEC))).toEqual({
    ok: false,
    error: { kind: "file_busy", owner: null },
  });
  expect(time.nowMs() - begunMs).toBeWithin(5000, 5000 + CHANGE_RETRY_MS + 2 * TRAVEL_MS + 1);
  expect(store.list()).toHaveLength(1);
});

test("servers that can't be asked leave in force what was known, and the next change says why it can't be", async () => {
  const node = createNode();
  const { bucket, shared } = node;
  const watch = shared.watch();
  const [keys, settings] = [await node.openKeys(), await node.openSettings()];
  const { text } = await keyOf(keys);
  await settings.setRetention(FixedRetention.ofDays(3653));
  bucket.cut();
  await until(() => !bucket.watches);
  for (let i = 0; i < 5; i++) {
    await Promise.all([keys.reload(), settings.reload()]);
    await bucket.idle();
    expect([keys.state, keys.find(text).kind]).toEqual(["ok", "known"]);
    expect([settings.state, settings.retention.text]).toEqual(["ok", "3653d"]);
  }
  const refused = {
    ok: false,
    error: { kind: "cluster_unreachable", reason: "no server answers", mayBeWritten: false },
  };
  const changes = [keys.create(SPEC), keys.revoke("k_00000000"), settings.setRetention(DEFAULT_RETENTION)];
  expect(await Promise.all<unknown>(changes)).toEqual([refused, refused, refused]);
  expect([keys.find(text).kind, settings.retention.text]).toEqual(["known", "3653d"]);

  bucket.mend();
  const other = await createNode(bucket.values).openKeys();
  const { key } = await keyOf(other);
  await until(() => bucket.watches);
  await keys.reload();
  expect(keys.list().map(({ id }) => id)).toContain(key.id);
  watch.stop();
  await until(() => !bucket.watches);
});

test("what is missing stays missing while the servers can't be asked", async () => {
  const { bucket, openKeys } = createNode();
  const keys = await openKeys();
  bucket.cut();
  await keys.reload();
  await bucket.idle();
  await keys.reload();
  expect(keys.state).toBe("missing");
});

test("a node that can't ask what there is does not begin", async () => {
  const node = createNode();
  node.bucket.cut();
  expect(await outcome(node.openKeys())).toThrow(StreamError);
  expect(await outcome(node.openSettings())).toThrow("no server answers");
  node.bucket.mend();
  expect((await node.openKeys()).state).toBe("missing");
});

test("refresh() finds what another node has just written, also after a question that failed", async () => {
  const { bucket, openKeys } = createNode();
  const keys = await openKeys();
  const get = bucket.get.bind(bucket);
  bucket.get = () => Promise.reject(new TypeError("no answer of a server"));
  expect(await outcome(keys.refresh())).toThrow("no answer of a server");
  bucket.get = get;
  const { text } = await keyOf(await createNode(bucket.values).openKeys());
  await keys.refresh();
  expect(keys.find(text).kind).toBe("known");
});

test("a change that servers refuse permanently fails immediately", async () => {
  const time = new VirtualTime();
  const { bucket, openKeys } = createNode(new SimulatedValues(), TIMES, time);
  const keys = await time.until(openKeys());
  bucket.refusal = new StreamError("refused", "the servers don't allow it");
  const begunMs = time.nowMs();
  expect(await time.until(keys.create(SPEC))).toMatchObject({
    error: { reason: "the servers don't allow it" },
  });
  expect(time.nowMs() - begunMs).toBe(TRAVEL_MS); // One question, and none again.
});

test("a write whose answer is lost is found, and not made twice", async () => {
  const { bucket, openKeys } = createNode();
  const keys = await openKeys();
  bucket.lostAnswers = 1;
  const { key } = await keyOf(keys);
  expect(keys.list()).toEqual([key]);
  expect((await createNode(bucket.values).openKeys()).list()).toEqual([key]);
  expect(bucket.updates).toBe(1);
});

test("a write with an unknown outcome is reported as such", async () => {
  const time = new VirtualTime();
  const { bucket, openKeys } = createNode(new SimulatedValues(), TIMES, time);
  const keys = await time.until(openKeys());
  bucket.lostAnswers = 1;
  const { promise: written, resolve } = Promise.withResolvers<void>();
  bucket.values.watchers.add(() => resolve());
  const creating = keys.create(SPEC);
  await time.until(written);
  bucket.cut();
  expect(await time.until(creating)).toMatchObject({
    error: { kind: "cluster_unreachable", mayBeWritten: true },
  });
});

test("a watch that tells nothing any more is noticed by asking again", async () => {
  const node = createNode(new SimulatedValues(), { ...TIMES, askAgainMs: 50 });
  const watch = node.shared.watch();
  const keys = await node.openKeys();
  const reloads = watchFile(keys, 5, () => {});
  node.bucket.isMute = true;
  const { text } = await keyOf(await createNode(node.bucket.values).openKeys());
  await until(() => keys.find(text).kind === "known");
  reloads.stop();
  watch.stop();
});

test.each([
  ["tells of changes", false],
  ["tells nothing any more", true],
])("a key that another node makes or revokes acts within 2 s where a watch %s", async (_, isMute) => {
  const time = new VirtualTime();
  const node = createNode(new SimulatedValues(), null, time);
  const watch = node.shared.watch();
  const secrets = {
    keys: await time.until(node.openKeys()),
    sessionSecret: await time.until(node.openSecret()),
    passPhrases: await time.until(node.openPassPhrases()),
    webhookSecrets: await time.until(node.openWebhookSecrets()),
  };
  const reloads = watchSecrets(secrets, () => {}, time);
  await time.until(time.wait(10));
  node.bucket.isMute = isMute;
  const admin = await time.until(createNode(node.bucket.values, null, time).openKeys());
  const tookMs: number[] = [];
  for (let round = 0; round < 20; round++) {
    await time.until(time.wait(round * 53)); // At any moment between two looks.
    const { key, text } = await time.until(keyOf(admin));
    for (const [change, kind] of [
      [async () => undefined, "known"],
      [() => admin.revoke(key.id), "revoked"],
    ] as const) {
      await time.until(change());
      const sinceMs = time.nowMs();
      while (secrets.keys.find(text).kind !== kind) await time.until(time.wait(1));
      tookMs.push(time.nowMs() - sinceMs);
    }
  }
  expect(Math.max(...tookMs)).toBeWithin(1, 2000 + 10 * TRAVEL_MS);
  reloads.stop();
  watch.stop();
});

test("an older value that a server answers with does not count against a newer one", async () => {
  const node = createNode();
  const keys = await node.openKeys();
  const { key, text } = await keyOf(keys);
  node.bucket.stale.set("keys.json", node.bucket.values.entries.get("keys.json")!);
  const admin = await createNode(node.bucket.values).openKeys();
  await admin.revoke(key.id);
  node.bucket.stale.set("keys.json", node.bucket.values.entries.get("keys.json")!);
  const watch = node.shared.watch();
  await until(() => node.bucket.watches);
  await keys.reload();
  expect(keys.find(text).kind).toBe("revoked");
  watch.stop();
  await until(() => !node.bucket.watches);

  const newest = node.bucket.values.entries.get("keys.json")!;
  for (const stale of [{ ...newest, value: new Uint8Array(), revision: newest.revision - 1 }, null]) {
    node.bucket.stale.set("keys.json", stale);
    await keys.reload();
    await node.bucket.idle();
    await keys.reload();
    expect([keys.state, keys.find(text).kind]).toEqual(["ok", "revoked"]);
  }
});

test("keys are refused while there is still room to revoke them", async () => {
  const node = createNode();
  node.bucket.valueBytesMax = 4000;
  const keys = await node.openKeys();
  let last = await keyOf(keys);
  let refused = await keys.create(SPEC);
  for (let count = 0; refused.ok && count < 100; count++) {
    last = refused.value;
    refused = await keys.create(SPEC);
  }
  expect(refused).toEqual({ ok: false, error: { kind: "file_full", bytesMax: 3000 } });
  expect(keys.list().length).toBeGreaterThan(3);
  expect(await keys.make(last.key.id, SPEC)).toMatchObject({ error: { kind: "file_full" } });
  for (const { id } of keys.list()) expect((await keys.revoke(id)).ok).toBe(true);
  expect(keys.find(last.text).kind).toBe("revoked");
});

test("a bucket that was restored from an older copy is taken as it is by the next watch", async () => {
  const node = createNode();
  const watch = node.shared.watch();
  const keys = await node.openKeys();
  await keyOf(keys);
  await keyOf(keys);
  const [first, restored] = [createNode(), keys.list()[0]!];
  const copy = await first.openKeys();
  const { key } = await keyOf(copy);
  node.bucket.values.entries.set("keys.json", first.bucket.values.entries.get("keys.json")!); // Of revision 1.
  node.bucket.cut();
  await until(() => !node.bucket.watches);
  node.bucket.mend();
  await until(() => node.bucket.watches);
  await keys.reload();
  expect(keys.list().map(({ id }) => id)).toEqual([key.id]);
  expect(restored.id).not.toBe(key.id);
  watch.stop();
});

test("a value that can't be used is left as it is, and one that is removed is missing", async () => {
  const node = createNode();
  const watch = node.shared.watch();
  const keys = await node.openKeys();
  const garbage = new TextEncoder().encode("garbage");
  await until(() => node.bucket.watches);
  node.bucket.values.write("keys.json", garbage);
  const told: string[] = [];
  await keys.reload();
  const watches = watchSecrets(
    {
      keys,
      sessionSecret: await node.openSecret(),
      passPhrases: await node.openPassPhrases(),
      webhookSecrets: await node.openWebhookSecrets(),
    },
    (reason) => told.push(reason),
  );
  watches.stop();
  expect(told).toEqual(["keys.json can't be used, every key is unknown: it is not a JSON object"]);
  expect(await keys.create(SPEC)).toMatchObject({ error: { kind: "file_damaged", file: "keys.json" } });
  expect(node.bucket.values.entries.get("keys.json")!.value).toEqual(garbage);
  node.bucket.values.remove("keys.json");
  await keys.reload();
  expect(keys.state).toBe("missing");
  watch.stop();
});
