import { Buffer } from "node:buffer";
import type { PassPhrases } from "../../../auth/pass-phrases.ts";
import type { ClientAnswer } from "../../../clients/client.ts";
import type { Content } from "../../../clients/content.ts";
import { encryptBox, isEncrypted, openBox, readBox } from "../../../clients/owntracks/encryption.ts";
import { friendCard, friendLocation } from "../../../clients/owntracks/friend.ts";
import { owntracks } from "../../../clients/owntracks/owntracks.ts";
import type { AppDevices } from "../../../hot/app-devices.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import type { MaybePromise } from "../../../lib/schedule/maybe-promise.ts";
import type { Scheduler } from "../../../lib/schedule/scheduler.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { AppId } from "../../../model/ids.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import type { Clock } from "../../../model/time/clock.ts";
import { MS_PER_DAY } from "../../../model/time/units.ts";
import { FriendsOfApp } from "./friends-of-app.ts";
import type { IngestedMessage } from "./ingest-message.ts";
import type { MessageEnvelope } from "./refused-messages.ts";

/**
 * The other devices of an app, for the answer to an accepted message; null if the client gets only an acknowledgement.
 */
export type FriendsFor = (
  envelope: MessageEnvelope,
  ingested: IngestedMessage,
) => MaybePromise<ClientAnswer | null>;

export interface FriendsDependencies {
  /** Apps whose devices see each other. */
  readonly apps: readonly AppId[];
  readonly hot: Pick<HotStore, "findApp">;
  readonly passPhrases: Pick<PassPhrases, "boxKeys">;
  readonly scheduler: Scheduler;
  readonly clock: Clock;
}

const FRIENDS_MAX = 50;
const FRIEND_AGE_MS_MAX = 7 * MS_PER_DAY;
/** Bytes of clear text: encrypted and in Base64 they are just below the 64 KiB that an answer may have. */
const TEXT_BYTES_MAX = 48_000;

export function createFriendsFor({
  apps,
  hot,
  passPhrases,
  scheduler,
  clock,
}: FriendsDependencies): FriendsFor {
  const friendsOf = new Map(apps.map((appId) => [appId, new FriendsOfApp()]));

  return function friendsFor(envelope, { answeredBy, batches }) {
    const { sender, message } = envelope;
    const friends = friendsOf.get(sender.appId);
    // A sender that may not read sees no other devices. A broker accepts no answer.
    if (friends === undefined || answeredBy !== owntracks || !sender.mayRead || message.topic !== null)
      return null;
    const asker = deviceOf(batches);
    const app = hot.findApp(sender.appId);
    return asker === null || app === null
      ? null
      : scheduler.run(sender.appId, answer(friends, app, envelope, asker));
  };

  function* answer(
    friends: FriendsOfApp,
    app: AppDevices,
    { sender, message }: MessageEnvelope,
    asker: string,
  ): Steps<ClientAnswer | null> {
    const boxKeys = passPhrases.boxKeys({ ...sender, deviceId: asker });
    const encrypted = encryptedOf(message.content);
    // An app without a passphrase would repeat a message forever if its answer is encrypted, so it must prove that it
    // has one. A sender in clear text that should have one gets nothing: it may be an impostor.
    if (encrypted === null && boxKeys.length > 0) return null;
    const boxKey = encrypted === null ? null : yield* findKey(boxKeys, yield* readBox(encrypted));
    yield* friends.look(app, clock.nowMs(), { ageMsMax: FRIEND_AGE_MS_MAX, countMax: FRIENDS_MAX + 1 });
    const text = textFor(friends, app, asker);
    return { ...owntracks.success, body: boxKey === null ? text : sealed(boxKey, text) };
  }

  /** Written in one turn of the event loop, so that the data of the devices stays valid. */
  function textFor(friends: FriendsOfApp, app: AppDevices, asker: string): string {
    const nowMs = clock.nowMs();
    const texts: string[] = [];
    let bytesLeft = TEXT_BYTES_MAX;
    let count = 0;

    function add(text: string): boolean {
      const bytes = Buffer.byteLength(text) + ",".length;
      if (bytes > bytesLeft) return false;
      bytesLeft -= bytes;
      texts.push(text);
      return true;
    }

    for (const friend of friends.current(app, nowMs - FRIEND_AGE_MS_MAX)) {
      if (friend.deviceId === asker || count === FRIENDS_MAX) continue;
      if (!add(JSON.stringify(friendLocation(friend)))) break;
      count++;
      if (friends.cards.isDue(asker, friend.deviceId, nowMs)) add(JSON.stringify(friendCard(friend)));
    }
    return `[${texts.join(",")}]`;
  }
}

/** The device of the message's position; null if the message had none. */
function deviceOf([batch]: readonly ReportBatch[]): string | null {
  return batch === undefined || batch.count === 0 ? null : batch.texts[batch.device[0]!]!;
}

function encryptedOf(content: Content) {
  return content.kind === "json" && isEncrypted(content.value) ? content.value : null;
}

/** The key that encrypted a box. */
function* findKey(boxKeys: readonly Uint8Array[], box: Uint8Array): Steps<Uint8Array | null> {
  for (const boxKey of boxKeys) if ((yield* openBox(boxKey, box)) !== null) return boxKey;
  return null;
}

function sealed(boxKey: Uint8Array, text: string): string {
  const data = Buffer.from(encryptBox(boxKey, Buffer.from(text))).toString("base64");
  return JSON.stringify({ _type: "encrypted", data });
}
