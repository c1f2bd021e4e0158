import { expect, test } from "bun:test";
import { WebhookSecrets } from "../../../../src/auth/webhook-secrets.ts";
import { WebhookStore } from "../../../../src/hot/webhook-store.ts";
import { ok } from "../../../../src/lib/result.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import type { StandingEntry } from "../../../../src/model/standing-entry.ts";
import { createEditWebhooks } from "../../../../src/service/webhooks/edit-webhooks.ts";
import { createMemoryKeyFiles, createMemoryLock } from "../../auth/memory-key-files.ts";

const APP = "app" as AppId;

const FILTERS = { name: null, types: null, watches: null, devices: null, users: null, sendsLate: false };
const WANTED = { draft: { ...FILTERS, url: "https://a.example/" }, headers: { token: "t" } };

async function open() {
  const files = createMemoryKeyFiles();
  const clock = { nowMs: () => 7 };
  const file = { files, path: "/data/webhook-secrets.json", clock, acquireLock: createMemoryLock() };
  const secrets = await WebhookSecrets.open({ ...file, process: { pid: 1, command: "serve" } });
  const webhooks = new WebhookStore();
  const entries: StandingEntry[] = [];
  const edit = createEditWebhooks({
    append: async (entry) => {
      entries.push(entry);
      if (entry.kind === "webhook") webhooks.apply(entry, entries.length);
      return ok(entries.length);
    },
    hot: { webhooks, visibleSequence: 0 },
    secrets,
    targets: { allowed: [] },
    resolve: () => Promise.reject(new Error("no such name")),
    clock,
  });
  return { edit, files, secrets, webhooks, entries };
}

const request = (nowMs = 7) => ({
  appId: APP,
  keyId: "k_00000001",
  nowMs,
  signal: new AbortController().signal,
});

test("a webhook is made although its name has no address now, and no entry has a secret", async () => {
  const { edit, entries, secrets } = await open();
  const made = await edit.create(request(), WANTED);
  if (!made.ok) throw new Error("it is made");
  const { webhook, secret } = made.value;
  expect(secrets.find(webhook.id)).toMatchObject({ secret, headers: { token: "t" }, keyId: "k_00000001" });
  expect(JSON.stringify(entries)).not.toContain(secret);
  expect(JSON.stringify(entries)).not.toContain("token");
  await edit.delete(request(), webhook.id);
  expect(secrets.find(webhook.id)).toBeNull();
});

test("headers of one app leave room for the secrets of others", async () => {
  const { edit } = await open();
  const headers = Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [name, "x".repeat(1024)]));
  const ids: string[] = [];
  const create = (appId = APP) => edit.create({ ...request(), appId }, { ...WANTED, headers });
  for (let made = await create(); made.ok; made = await create()) ids.push(made.value.webhook.id);
  expect(ids).toHaveLength(12); // 61,500 characters.
  const fault = { kind: "invalid_parameter", message: expect.stringContaining("65,536") };
  expect(await create()).toMatchObject({ ok: false, error: fault });
  expect(await create("other" as AppId)).toMatchObject({ ok: true });
  const small = await edit.create(request(), { ...WANTED, headers: null });
  if (!small.ok) throw new Error("it has no headers");
  expect(await edit.replace(request(), small.value.webhook.id, { ...WANTED, headers })).toMatchObject({
    ok: false,
    error: fault,
  });
  expect(await edit.replace(request(), ids[0]!, { ...WANTED, headers })).toMatchObject({ ok: true });
});

test("while the file of secrets is damaged none is made, and nothing is in the log", async () => {
  const { edit, files, entries } = await open();
  files.bytes = new TextEncoder().encode("garbage");
  expect(await edit.create(request(), WANTED)).toMatchObject({ ok: false, error: { kind: "unavailable" } });
  expect(entries).toEqual([]);
});

test("suspend() does nothing to a webhook that a client changed meanwhile", async () => {
  const { edit, webhooks } = await open();
  const made = await edit.create(request(), WANTED);
  if (!made.ok) throw new Error("it is made");
  const { webhook } = made.value;
  await edit.setState(request(9), webhook.id, "active");
  expect(await edit.suspend(webhook, "paused", "it fails")).toBe(false);
  const now = webhooks.find(APP, webhook.id)!;
  expect(await edit.suspend(now, "paused", "it fails")).toBe(true);
  expect(webhooks.find(APP, webhook.id)).toMatchObject({ state: "paused", reason: "it fails" });
});
