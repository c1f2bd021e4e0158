import type { ClientMessage, ClientName } from "../../../clients/client.ts";
import type { Address, Sender } from "../../../clients/identity.ts";
import type { MessageSource, RefusedMessage } from "../../../clients/refused-message.ts";
import type { Steps } from "../../../lib/schedule/steps.ts";
import type { RefusedPoint } from "./point-collector.ts";

/** A message and its origin. */
export interface MessageEnvelope {
  readonly sender: Sender;
  readonly address: Address;
  readonly message: ClientMessage;
  readonly source: MessageSource;
}

/** Bytes of one point; clients send a few hundred. */
const POINT_BYTES_MAX = 64 * 1024;

const encoder = new TextEncoder();

/**
 * The points stored from a message may come to twice its size plus this. Each has a copy of the URL's and headers'
 * values and of what stands beside the message's list, which may be long.
 */
const BYTES_BEYOND_MAX = 1024 * 1024;

/** A message of more points is stored whole: each entry uses part of a share, and no message may use all of one. */
const POINTS_MAX = 1000;

/**
 * The quarantine's messages for points that could not be used: each point alone, or the whole message if all of it was
 * refused or its points would be far larger. Erased points give one message, which has nothing of what they say. Works
 * in steps, because a message may have ten thousand such points.
 */
export function* refusedMessages(
  envelope: MessageEnvelope,
  client: ClientName,
  refused: readonly RefusedPoint[],
): Steps<RefusedMessage[]> {
  const { sender, address, message, source } = envelope;
  const { appId, keyId } = sender;
  const { arrivedMs, basicUser, topic, speedUnit, headers } = message;
  const { method, path } = source;
  const { device, user } = address;
  const query = message.query.toString();
  const common = {
    appId,
    keyId,
    client,
    arrivedMs,
    method,
    path,
    device,
    user,
    basicUser,
    topic,
    speedUnit,
    headers,
  };
  const commonBytes = JSON.stringify([path, device, user, basicUser, topic, headers, query]).length;
  const bytesMax = 2 * source.body.length + BYTES_BEYOND_MAX;
  const messages: RefusedMessage[] = [];
  const erased = refused.find(({ reason }) => reason === "erased");
  if (erased !== undefined) {
    const { reason, deviceId } = erased;
    messages.push({ ...common, query: "", body: NO_BODY, isCut: true, reason, deviceId, index: null });
  }
  let bytes = 0;
  let stepBytes = 0;
  for (const { reason, deviceId, raw, index } of refused) {
    if (reason === "erased") continue;
    const text = textOf(envelope, raw, query);
    messages.push({ ...common, ...text, reason, deviceId, index: raw === undefined ? null : index });
    const addedBytes = text.body.length + commonBytes;
    bytes += addedBytes;
    stepBytes += addedBytes;
    // With erased points beside these, the whole message can't be stored.
    if (erased === undefined && ((bytes > bytesMax && messages.length > 1) || messages.length > POINTS_MAX)) {
      const { reason, deviceId } = refused[0]!;
      return [{ ...common, ...textOf(envelope, undefined, query), reason, deviceId, index: null }];
    }
    if (stepBytes < POINT_BYTES_MAX) continue;
    yield;
    stepBytes = 0;
  }
  return messages;
}

/** A point of parameters becomes a query text, any other JSON. Beside a body, the URL's parameters name the device. */
function textOf({ message, source }: MessageEnvelope, raw: unknown, query: string) {
  if (raw === undefined) return { query, body: source.body, isCut: false };
  const isQuery = typeof raw === "string" && message.content.kind === "empty";
  if (isQuery) return { query: raw, body: NO_BODY, isCut: false };
  const body = encoder.encode(typeof raw === "string" ? raw : JSON.stringify(raw));
  const isCut = body.length > POINT_BYTES_MAX;
  return { query, body: isCut ? body.slice(0, POINT_BYTES_MAX) : body, isCut };
}

const NO_BODY = new Uint8Array();
