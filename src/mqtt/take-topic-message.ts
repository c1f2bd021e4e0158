import type { ClientMessage } from "../clients/client.ts";
import { readContent } from "../clients/content/read-content.ts";
import { owntracks } from "../clients/owntracks/owntracks.ts";
import { type Address, BROKER_KEY_ID, type Sender } from "../clients/sender.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { AppId } from "../model/ids.ts";
import type { TakeMessage } from "../service/clients/take-message.ts";
import { bodiesOf } from "../service/ingest-batches.ts";
import type { TakeTopicMessage } from "./receiver.ts";

/** Nobody says in a URL whose device it is: the topic does. */
const ADDRESS: Address = { device: null, user: null };

export interface TakeTopicMessageDependencies {
  readonly appId: AppId;
  readonly takeMessage: TakeMessage;
  readonly decryptOf: (sender: Sender, address: Address) => ClientMessage["decrypt"];
  readonly scheduler: Scheduler;
}

/** Reads a broker's messages as OwnTracks', in the name of one app. */
export function createTakeTopicMessage(dependencies: TakeTopicMessageDependencies): TakeTopicMessage {
  const { appId, takeMessage, decryptOf, scheduler } = dependencies;
  const sender: Sender = {
    appId,
    keyId: BROKER_KEY_ID,
    lastFour: "mqtt",
    deviceId: null,
    userId: null,
    mayRead: false,
  };
  const decrypt = decryptOf(sender, ADDRESS);

  return async function takeTopicMessage({ topic, body, arrivedMs }) {
    const content = await scheduler.run(bodiesOf(appId), readContent(body));
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
    const source = { method: "MQTT", path: topic, body };
    return takeMessage({ sender, address: ADDRESS, message, source }, owntracks);
  };
}
