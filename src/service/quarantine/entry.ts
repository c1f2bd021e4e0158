import { createHash } from "node:crypto";
import type { RefusedMessage } from "../../clients/refused-message.ts";
import type { Steps } from "../../lib/schedule/steps.ts";

/** An entry in lists, without its body and parameters. */
export interface EntrySummary extends ToldOfMessage {
  /** A hash of the content, so that a repetition by the same key has the same id. */
  readonly id: string;
  readonly bodyBytes: number;
  /** Arrivals; after a crash these may be some seconds behind. */
  readonly lastArrivedMs: number;
  readonly count: number;
}

export interface FoundMessageEntry {
  readonly summary: EntrySummary;
  readonly message: RefusedMessage;
}

/** The fields of a message in lists. */
export type ToldOfMessage = Pick<
  RefusedMessage,
  "appId" | "keyId" | "client" | "reason" | "deviceId" | "topic" | "index" | "isCut" | "arrivedMs"
>;

export function toldOf(message: ToldOfMessage): ToldOfMessage {
  const { appId, keyId, client, reason, deviceId, topic, index, isCut, arrivedMs } = message;
  return { appId, keyId, client, reason, deviceId, topic, index, isCut, arrivedMs };
}

const ID_BYTES = 16;

/** Bytes that are hashed in one step, which takes a fraction of a millisecond. */
const STEP_BYTES = 256 * 1024;

/** The fields that identify a message, besides its body. Ids of entries on the disk depend on their order. */
const SENT = [
  "appId",
  "keyId",
  "client",
  "method",
  "path",
  "device",
  "user",
  "basicUser",
  "topic",
  "speedUnit",
  "headers",
  "query",
] as const satisfies readonly (keyof RefusedMessage)[];

/**
 * The id of a message's entry: a hash of the sender and the content, without time and reason. So a phone that repeats a
 * bad point all day has one entry, and an entry that is replayed without success keeps its id.
 */
export function* entryId(message: RefusedMessage): Steps<string> {
  const { body } = message;
  const values = SENT.map((name) => message[name]);
  const hash = createHash("sha256").update(`${JSON.stringify(values)}\n`);
  for (let start = 0; start < body.length; start += STEP_BYTES) {
    hash.update(body.subarray(start, start + STEP_BYTES));
    if (body.length > STEP_BYTES) yield;
  }
  return hash.digest().toString("hex", 0, ID_BYTES);
}
