import { expect, test } from "bun:test";
import {
  encodeWebhookSecrets,
  parseWebhookSecrets,
  secretsAt,
  WebhookSecrets,
} from "../../../src/auth/webhook-secrets.ts";
import { isWebhookSecret } from "../../../src/model/webhooks/signing.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";

const PATH = "/data/webhook-secrets.json";
const HOUR_MS = 3_600_000;

function open() {
  const files = createSimulatedFiles();
  const acquireLock = async () => ({ ok: true, release: () => {} }) as const;
  const process = { pid: 1, command: "test" };
  const dependencies = { files, path: PATH, clock: { nowMs: () => 0 }, acquireLock, process };
  return { files, secrets: () => WebhookSecrets.open(dependencies) };
}

const EVERY = () => true;

const made = (id: string, nowMs: number, headers = {}) => ({ id, nowMs, headers, keyId: "k_00000001" });

test("revokeOf() ends the webhooks of a key, until they get another secret", async () => {
  const secrets = await open().secrets();
  for (const id of ["a", "b"]) await secrets.create(made(id, 1), EVERY);
  await secrets.create({ ...made("other", 1), keyId: "k_00000002" }, EVERY);
  expect(secrets.madeBy("k_00000001")).toEqual(["a", "b"]);
  expect(await secrets.revokeOf("k_00000001")).toEqual({ ok: true, value: ["a", "b"] });
  expect(secrets.madeBy("k_00000001")).toEqual([]);
  await secrets.rotate(made("a", 2), 2);
  expect(["a", "b", "other"].map((id) => secrets.find(id)!.isRevoked)).toEqual([false, true, false]);
});

test("a secret and its headers are on the disk, and rotated with an overlap in which both sign", async () => {
  const { secrets: reopen } = open();
  const secrets = await reopen();
  const first = await secrets.create(made("w", 1, { "x-token": "t" }), EVERY);
  const second = await secrets.rotate(made("w", 2), 1000);
  if (!first.ok || !second.ok) throw new Error("the file can be written");
  expect([isWebhookSecret(first.value), isWebhookSecret(second.value)]).toEqual([true, true]);
  await secrets.setHeaders("w", { "x-token": "u" });
  const record = (await reopen()).find("w")!;
  expect(record.headers).toEqual({ "x-token": "u" });
  expect(secretsAt(record, 999)).toEqual([second.value, first.value]);
  expect(secretsAt(record, 1000)).toEqual([second.value]);
});

test("headers need a secret, a lost one is made anew, and a removed one is gone", async () => {
  const secrets = await open().secrets();
  expect(await secrets.setHeaders("w", {})).toEqual({ ok: false, error: "missing" });
  await secrets.rotate(made("w", 7), 1000);
  expect(secrets.find("w")).toMatchObject({ former: null, headers: {}, madeMs: 7 });
  await secrets.remove("w");
  expect(secrets.find("w")).toBeNull();
});

test("create() drops secrets of webhooks that never came to be, but not while they may be on their way", async () => {
  const secrets = await open().secrets();
  await secrets.create(made("left", 0), EVERY);
  await secrets.create(made("coming", HOUR_MS), EVERY);
  await secrets.create(made("new", HOUR_MS + 1), (id) => id === "there");
  expect([secrets.find("left"), secrets.find("coming")?.madeMs]).toEqual([null, HOUR_MS]);
});

test("parseWebhookSecrets() names the webhook that is wrong, and no secret", () => {
  const text = (webhooks: unknown) => new TextEncoder().encode(JSON.stringify({ version: 1, webhooks }));
  expect(parseWebhookSecrets(text([]))).toEqual({ ok: false, error: "its secrets of webhooks are missing" });
  const wrong = { secret: "whsec_short", former: null, headers: {}, madeMs: 1, keyId: "", isRevoked: false };
  const error = 'its secret of the webhook "w" is not valid';
  expect(parseWebhookSecrets(text({ w: wrong }))).toEqual({ ok: false, error });
  const empty = parseWebhookSecrets(encodeWebhookSecrets(new Map()));
  expect(empty).toEqual({ ok: true, value: new Map() });
});
