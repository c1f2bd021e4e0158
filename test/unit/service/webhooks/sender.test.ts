import { expect, test } from "bun:test";
import type { WebhookSecret } from "../../../../src/auth/webhook-secrets.ts";
import { createWebhookSecret } from "../../../../src/model/webhooks/signing.ts";
import type { Webhook } from "../../../../src/model/webhooks/webhook.ts";
import { createSend } from "../../../../src/service/webhooks/sender.ts";
import { APP } from "../../../support/geofences/test-events.ts";

/* Requests are signed with secrets that this process has read or that another process has just written. */

const NOW_MS = 1_000_000_000;

function secretWith(token: string): WebhookSecret {
  const common = { former: null, madeMs: 1, keyId: "k_00000001", isRevoked: false };
  return { ...common, secret: createWebhookSecret(), headers: { token } };
}

function open(known: WebhookSecret | null, written: WebhookSecret | null) {
  const tokens: string[] = [];
  const send = createSend({
    async post({ headers }) {
      tokens.push(headers.token!);
      return { kind: "answered", status: 204, retryAfter: null, body: "" };
    },
    secrets: { state: "ok", find: () => known, findNew: async () => written },
    targets: { allowed: [] },
    clock: { nowMs: () => NOW_MS },
    version: "1",
  });
  return { send, tokens };
}

function webhookOf(changedMs: number): Webhook {
  const filters = { types: null, watches: null, devices: null, users: null, sendsLate: false };
  const times = { createdMs: 1, stateMs: 1, changedMs };
  const whose = { id: "w", appId: APP, keyId: "k_00000001", name: null, url: "https://a.example/" };
  return { ...whose, ...times, ...filters, state: "active", reason: null };
}

const MESSAGE = { id: "m", body: "{}" };
const { signal } = new AbortController();

test("send() asks for the secret and headers of a webhook that was made or changed just now", async () => {
  const { send, tokens } = open(secretWith("old"), secretWith("new"));
  await send(webhookOf(NOW_MS - 1000), MESSAGE, signal);
  await send(webhookOf(NOW_MS - 60_000), MESSAGE, signal);
  expect(tokens).toEqual(["new", "old"]);
});

test("send() fails without a secret", async () => {
  const { send, tokens } = open(null, null);
  expect(await send(webhookOf(NOW_MS), MESSAGE, signal)).toMatchObject({
    ...{ verdict: "failed", answer: "its secret is lost: rotate it" },
  });
  expect(tokens).toEqual([]);
});
