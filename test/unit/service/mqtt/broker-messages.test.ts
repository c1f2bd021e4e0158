import { expect, test } from "bun:test";
import type { RefusedMessage } from "../../../../src/clients/refused-message.ts";
import { ok } from "../../../../src/lib/result.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { inOneStep } from "../../../../src/lib/schedule/steps.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import type { MessageEnvelope } from "../../../../src/service/ingest/messages/refused-messages.ts";
import { createBrokerMessages } from "../../../../src/service/mqtt/broker-messages.ts";
import { outcome } from "../../../support/rejection.ts";

const MESSAGE = {
  topic: "owntracks/anna/pixel",
  body: new TextEncoder().encode('{"_type":"location"}'),
  arrivedMs: Date.UTC(2026, 2, 20, 12),
};

function openMessages() {
  const sent: MessageEnvelope[] = [];
  const kept: RefusedMessage[] = [];
  const messages = createBrokerMessages({
    appId: "shop" as AppId,
    ingestMessage: async (message) => {
      sent.push(message);
      throw new Error("a bug");
    },
    decryptOf: () => () => inOneStep(() => null),
    quarantine: () => ({
      async put(entries) {
        kept.push(...entries);
        return ok(undefined);
      },
    }),
    scheduler: new Scheduler(),
  });
  return { messages, sent, kept };
}

test("a message is read as it came, with its topic, in the name of the app", async () => {
  const { messages, sent } = openMessages();
  expect(await outcome(messages.ingestMessage(MESSAGE))).toThrow("a bug");
  expect(sent).toMatchObject([
    {
      sender: { appId: "shop", keyId: "mqtt", deviceId: null, userId: null, mayRead: false },
      message: { topic: MESSAGE.topic, arrivedMs: MESSAGE.arrivedMs, content: { kind: "json" } },
      source: { method: "MQTT", path: MESSAGE.topic, body: MESSAGE.body },
    },
  ]);
});

test("a message that is set aside is in the quarantine whole and unread, to be tried again", async () => {
  const { messages, kept, sent } = openMessages();
  expect((await messages.quarantineMessage(MESSAGE)).ok).toBe(true);
  expect(sent).toEqual([]);
  expect(kept).toMatchObject([
    {
      appId: "shop",
      keyId: "mqtt",
      client: "owntracks",
      reason: "unknown_shape",
      arrivedMs: MESSAGE.arrivedMs,
      method: "MQTT",
      topic: MESSAGE.topic,
      body: MESSAGE.body,
      isCut: false,
      index: null,
    },
  ]);
});
