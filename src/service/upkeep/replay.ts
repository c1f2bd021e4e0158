import type { KeyRecord } from "../../auth/key-file.ts";
import type { KeyStore } from "../../auth/key-store.ts";
import type { ClientMessage } from "../../clients/client.ts";
import { CLIENTS } from "../../clients/clients.ts";
import type { Address, Sender } from "../../clients/identity.ts";
import { readContent } from "../../clients/read-content.ts";
import type { RefusedMessage } from "../../clients/refused-message.ts";
import { assert } from "../../lib/assert.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import { bodiesOf } from "../ingest/ingest.ts";
import type { IngestMessage } from "../ingest/messages/ingest-message.ts";
import type { RefusedPoint } from "../ingest/messages/point-collector.ts";
import { type MessageEnvelope, refusedMessages } from "../ingest/messages/refused-messages.ts";
import { entryId } from "../quarantine/entry.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";

/** The result of replaying an entry. */
export interface ReplayedEntry {
  readonly accepted: number;
  readonly duplicates: number;
  /** Points that still could not be used; they are in the quarantine. */
  readonly refused: number;
  /** Whether the entry remains, because it was refused again or has only the beginning of the message. */
  readonly isKept: boolean;
}

/**
 * Processes an entry of an app again, as if it had arrived only now, but with its original time of arrival and the
 * present rights of its key. The entry is deleted once its points are on the disk. Null if there is no such entry.
 */
export type Replay = (appId: AppId, id: string) => Promise<Result<ReplayedEntry | null, ServiceError>>;

export interface ReplayDependencies {
  readonly quarantine: () => Quarantine;
  readonly ingestMessage: IngestMessage;
  /** Includes revoked and expired keys, because their messages arrived while they were valid. */
  readonly keys: Pick<KeyStore, "list">;
  readonly decryptOf: (sender: Sender, address: Address) => ClientMessage["decrypt"];
  readonly scheduler: Scheduler;
}

export function createReplay(dependencies: ReplayDependencies): Replay {
  const { quarantine, ingestMessage, keys, decryptOf, scheduler } = dependencies;

  /** One at a time, because each has its body in memory, up to 16 MiB. */
  const turns = new Semaphore(1);

  return (appId, id) => turns.run(appId, () => replay(appId, id));

  async function replay(appId: AppId, id: string): ReturnType<Replay> {
    const entry = await quarantine().find(appId, id);
    if (entry === null) return ok(null);
    const { message: refused } = entry;
    if (refused.isCut) return ok({ accepted: 0, duplicates: 0, refused: 1, isKept: true });
    const client = CLIENTS.find(({ name }) => name === refused.client);
    assert(client !== undefined, "clients that were known once stay known");
    const owner = bodiesOf(appId);
    const content = await scheduler.run(owner, readContent(refused.body));
    const sender = senderOf(refused, keys.list());
    const envelope = envelopeOf(refused, sender, content, decryptOf);
    const ingested = await ingestMessage(envelope, client);
    if (!ingested.ok) return ingested;
    const { accepted, duplicates, collected } = ingested.value;
    const isKept = await scheduler.run(owner, isAmong(id, envelope, client.name, collected.refused));
    const deleted = isKept ? ok(0) : await quarantine().delete(appId, [id]);
    if (!deleted.ok) return deleted;
    return ok({ accepted, duplicates, refused: collected.refused.length, isKept });
  }
}

/** The key's present owner; of a key that is in no file any more only the id is known. */
function senderOf({ appId, keyId }: RefusedMessage, keys: readonly KeyRecord[]): Sender {
  const key = keys.find((each) => each.id === keyId && each.appId === appId);
  const { lastFour = keyId.slice(-4), deviceId = null, userId = null } = key ?? {};
  return { appId, keyId, lastFour, deviceId, userId, mayRead: false };
}

function envelopeOf(
  refused: RefusedMessage,
  sender: Sender,
  content: ClientMessage["content"],
  decryptOf: ReplayDependencies["decryptOf"],
): MessageEnvelope {
  const { arrivedMs, headers, basicUser, topic, speedUnit, device, user, method, path, body } = refused;
  const address = { device, user };
  const decrypt = decryptOf(sender, address);
  const query = new URLSearchParams(refused.query);
  const message = { arrivedMs, content, query, headers, basicUser, topic, speedUnit, decrypt };
  return { sender, address, message, source: { method, path, body } };
}

/** Whether an entry is among the messages that were refused again, by its id. */
function* isAmong(
  id: string,
  envelope: MessageEnvelope,
  client: RefusedMessage["client"],
  refused: readonly RefusedPoint[],
): Steps<boolean> {
  for (const message of yield* refusedMessages(envelope, client, refused)) {
    if ((yield* entryId(message)) === id) return true;
    yield;
  }
  return false;
}
