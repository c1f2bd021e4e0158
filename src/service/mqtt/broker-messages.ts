import type { ClientMessage } from "../../clients/client.ts";
import type { Content } from "../../clients/content.ts";
import { type Address, BROKER_KEY_ID, type Sender } from "../../clients/identity.ts";
import { owntracks } from "../../clients/owntracks/owntracks.ts";
import { readContent } from "../../clients/read-content.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { AppId } from "../../model/ids.ts";
import { bodiesOf } from "../ingest/ingest.ts";
import type { IngestMessage } from "../ingest/messages/ingest-message.ts";
import type { RefusedPoint } from "../ingest/messages/point-collector.ts";
import { type MessageEnvelope, refusedMessages } from "../ingest/messages/refused-messages.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";
import type { StoreTopicMessage, TopicMessage } from "./receiver.ts";

/** A topic names the device, so there are no parameters of a URL. */
const ADDRESS: Address = { device: null, user: null };

export interface BrokerMessagesDependencies {
  readonly appId: AppId;
  readonly ingestMessage: IngestMessage;
  readonly decryptOf: (sender: Sender, address: Address) => ClientMessage["decrypt"];
  readonly quarantine: () => Pick<Quarantine, "put">;
  readonly scheduler: Scheduler;
}

/** Handles a broker's messages. */
export interface BrokerMessages {
  /** Parses a message in OwnTracks' format, and stores it for the app. */
  readonly ingestMessage: StoreTopicMessage;
  /** Stores a message in the quarantine without parsing it. */
  readonly quarantineMessage: StoreTopicMessage;
}

export function createBrokerMessages(dependencies: BrokerMessagesDependencies): BrokerMessages {
  const { appId, ingestMessage, decryptOf, quarantine, scheduler } = dependencies;
  const sender: Sender = {
    appId,
    keyId: BROKER_KEY_ID,
    lastFour: "mqtt",
    deviceId: null,
    userId: null,
    mayRead: false,
  };
  const decrypt = decryptOf(sender, ADDRESS);

  function envelopeOf({ topic, body, arrivedMs }: TopicMessage, content: Content): MessageEnvelope {
    const message: ClientMessage = {
      arrivedMs,
      content,
      query: new URLSearchParams(),
      headers: {},
      basicUser: null,
      topic,
      speedUnit: null,
      decrypt,
    };
    return { sender, address: ADDRESS, message, source: { method: "MQTT", path: topic, body } };
  }

  return {
    async ingestMessage(message) {
      const content = await scheduler.run(bodiesOf(appId), readContent(message.body));
      return ingestMessage(envelopeOf(message, content), owntracks);
    },
    async quarantineMessage(message) {
      const envelope = envelopeOf(message, { kind: "unreadable" });
      return quarantine().put(
        await scheduler.run(bodiesOf(appId), refusedMessages(envelope, owntracks.name, WHOLE)),
      );
    },
  };
}

/** The whole message, because no point of it could be parsed. */
const WHOLE: readonly RefusedPoint[] = [
  { reason: "unknown_shape", deviceId: null, raw: undefined, index: 0, fault: null },
];
