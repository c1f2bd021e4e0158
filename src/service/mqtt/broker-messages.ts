import type { ClientMessage } from "../../clients/client.ts";
import type { Content } from "../../clients/content.ts";
import { type Address, BROKER_KEY_ID, type Sender } from "../../clients/identity.ts";
import { owntracks } from "../../clients/owntracks/owntracks.ts";
import { readContent } from "../../clients/read-content.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { AppId } from "../../model/ids.ts";
import { bodiesOf } from "../ingest/ingest.ts";
import type { RefusedPoint } from "../ingest/messages/point-collector.ts";
import { refusedMessages, type SentMessage } from "../ingest/messages/refused-messages.ts";
import type { TakeMessage } from "../ingest/messages/take-message.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";
import type { TakeTopicMessage, TopicMessage } from "./receiver.ts";

/** Nobody says in a URL whose device it is: the topic does. */
const ADDRESS: Address = { device: null, user: null };

export interface BrokerMessagesDependencies {
  readonly appId: AppId;
  readonly takeMessage: TakeMessage;
  readonly decryptOf: (sender: Sender, address: Address) => ClientMessage["decrypt"];
  readonly quarantine: () => Pick<Quarantine, "put">;
  readonly scheduler: Scheduler;
}

/** What becomes of a broker's messages. */
export interface BrokerMessages {
  /** Reads a message as OwnTracks', in the name of the app. */
  readonly take: TakeTopicMessage;
  /** Keeps a message in the quarantine, unread. */
  readonly setAside: TakeTopicMessage;
}

export function createBrokerMessages(dependencies: BrokerMessagesDependencies): BrokerMessages {
  const { appId, takeMessage, decryptOf, quarantine, scheduler } = dependencies;
  const sender: Sender = {
    appId,
    keyId: BROKER_KEY_ID,
    lastFour: "mqtt",
    deviceId: null,
    userId: null,
    mayRead: false,
  };
  const decrypt = decryptOf(sender, ADDRESS);

  function sentMessage({ topic, body, arrivedMs }: TopicMessage, content: Content): SentMessage {
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
    async take(message) {
      const content = await scheduler.run(bodiesOf(appId), readContent(message.body));
      return takeMessage(sentMessage(message, content), owntracks);
    },
    async setAside(message) {
      const sent = sentMessage(message, { kind: "unreadable" });
      return quarantine().put(
        await scheduler.run(bodiesOf(appId), refusedMessages(sent, owntracks.name, WHOLE)),
      );
    },
  };
}

/** All of a message that nobody understood. */
const WHOLE: readonly RefusedPoint[] = [
  { reason: "unknown_shape", deviceId: null, raw: undefined, index: 0, fault: null },
];
