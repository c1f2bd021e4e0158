import { expect, test } from "bun:test";
import { eraseAccess, findAccess } from "../../../src/auth/erase-access.ts";
import { type KeySpec, openKeyStore } from "../../../src/auth/key-store.ts";
import { PassPhrases } from "../../../src/auth/pass-phrases.ts";
import type { ErasureSubject } from "../../../src/directory/erasure-ledger.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { createMemoryKeyFiles, createMemoryLock } from "./memory-key-files.ts";
import { SPEC } from "./test-keys.ts";

const OTHER = "rival" as AppId;

async function createBench() {
  const clock = createManualClock(1_700_000_000_000);
  const common = { clock, acquireLock: createMemoryLock(), process: { pid: 1, command: "serve" } };
  const keyFiles = createMemoryKeyFiles();
  const phraseFiles = createMemoryKeyFiles();
  const openKeys = () => openKeyStore({ ...common, files: keyFiles, path: "data/keys.json" });
  const keys = await openKeys();
  const passPhrases = await PassPhrases.open({
    ...common,
    files: phraseFiles,
    path: "data/pass-phrases.json",
  });
  async function create(spec: Partial<KeySpec>): Promise<string> {
    const created = await keys.create({ ...SPEC, ...spec });
    if (!created.ok) throw new Error(created.error.kind);
    return created.value.key.id;
  }
  const set = (keyId: string, deviceId: string | null, appId = SPEC.appId) =>
    passPhrases.set({ keyId, appId, deviceId, text: "secret" });
  const texts = () =>
    [keyFiles, phraseFiles]
      .map(({ bytes }) => (bytes === null ? "" : new TextDecoder().decode(bytes)))
      .join();
  return { keys, passPhrases, openKeys, create, set, texts, keyFiles, phraseFiles };
}

function link(...deviceIds: readonly string[]): Partial<KeySpec> {
  const view = { deviceIds: deviceIds as readonly DeviceId[], notBeforeMs: 0, precisionMeters: null };
  return { permissions: ["view"], view, expiresMs: 1_800_000_000_000 };
}

const BUS: ErasureSubject = { kind: "device", appId: SPEC.appId, id: "bus" };

test("eraseAccess() removes keys, links and pass phrases of a device, and no others", async () => {
  const { create, set, texts, openKeys, ...stores } = await createBench();
  const free = await create({});
  const bound = await create({ deviceId: "bus", label: "phone of bus" });
  const revoked = await create({ deviceId: "bus" });
  await stores.keys.revoke(revoked);
  const shared = await create(link("van", "bus"));
  const others = [
    free,
    await create({ deviceId: "van", userId: "bus" }),
    await create({ deviceId: "bus", appId: OTHER }),
    await create(link("van")),
  ];
  await set(free, "bus");
  await set(free, null);
  await set(bound, "van");
  await set(free, "anna:bus");
  const wanted = { keyIds: [bound, revoked], linkIds: [shared], passPhraseKeyIds: [free, bound] };
  expect(await findAccess(stores, BUS)).toEqual(wanted);
  expect(stores.keys.findById(bound).kind).toBe("known");
  expect(await eraseAccess(stores, BUS)).toEqual({ ok: true, value: wanted });
  expect((await openKeys()).list().map(({ id }) => id)).toEqual(others);
  expect(stores.passPhrases.list().map(({ keyId, deviceId }) => [keyId, deviceId])).toEqual([
    [free, null],
    [free, "anna:bus"],
  ]);
  expect(stores.keys.findById(bound).kind).toBe("unknown");
  expect(texts()).not.toContain("phone of bus");
  const nothing = { keyIds: [], linkIds: [], passPhraseKeyIds: [] };
  expect(await eraseAccess(stores, BUS)).toEqual({ ok: true, value: nothing });
});

test("eraseAccess() removes keys of a user, and their pass phrases", async () => {
  const { create, set, ...stores } = await createBench();
  const free = await create({});
  const bound = await create({ userId: "ann" });
  await create({ deviceId: "ann" });
  await create(link("ann"));
  await set(free, "ann");
  await set(bound, null);
  const wanted = { keyIds: [bound], linkIds: [], passPhraseKeyIds: [bound] };
  const subject: ErasureSubject = { kind: "user", appId: SPEC.appId, id: "ann" };
  expect(await findAccess(stores, subject)).toEqual(wanted);
  expect(await eraseAccess(stores, subject)).toEqual({ ok: true, value: wanted });
  expect([stores.keys.list().length, stores.passPhrases.list().length]).toEqual([3, 1]);
});

test("eraseAccess() ends keys that a removed key made", async () => {
  const { create, keys, passPhrases } = await createBench();
  const maker = await create({ deviceId: "bus" });
  const made = await keys.make(maker, { ...SPEC, ...link("van") });
  const id = made.ok ? made.value.key.id : "";
  expect(keys.findById(id).kind).toBe("known");
  await eraseAccess({ keys, passPhrases }, BUS);
  expect(keys.findById(id).kind).toBe("unknown");
});

test("eraseAccess() writes no file if there is none, and fails if one can't be read", async () => {
  const { keys, passPhrases, keyFiles, phraseFiles } = await createBench();
  expect((await eraseAccess({ keys, passPhrases }, BUS)).ok).toBe(true);
  expect([keyFiles.bytes, phraseFiles.bytes]).toEqual([null, null]);
  for (const [files, file] of [
    [phraseFiles, "pass-phrases.json"],
    [keyFiles, "keys.json"],
  ] as const) {
    files.bytes = new TextEncoder().encode("{");
    const refused = await eraseAccess({ keys, passPhrases }, BUS);
    expect(refused).toMatchObject({ ok: false, error: { kind: "file_damaged", file } });
    expect(files.bytes.length).toBe(1);
    files.bytes = null;
  }
});
