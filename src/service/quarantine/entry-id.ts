import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { RefusedMessage } from "../../clients/refused-message.ts";
import type { Steps } from "../../lib/schedule/steps.ts";

/*
 * The id of an entry is a hash of who sent what. Neither the time nor what we made of it are in it: a phone that
 * repeats a bad point all day has one entry, and one that is tried again and still can't be used keeps its id.
 */

export const ID_BYTES = 16;

/** Hashed at once, which takes a fraction of a millisecond. */
const STEP_BYTES = 256 * 1024;

/** What makes a message another one, beside its body; ids of entries on the disk depend on the order. */
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

export function* entryId(message: RefusedMessage): Steps<Uint8Array> {
  const { body } = message;
  const sent = SENT.map((name) => message[name]);
  const hash = createHash("sha256").update(`${JSON.stringify(sent)}\n`);
  for (let start = 0; start < body.length; start += STEP_BYTES) {
    hash.update(body.subarray(start, start + STEP_BYTES));
    if (body.length > STEP_BYTES) yield;
  }
  return hash.digest().subarray(0, ID_BYTES);
}

/** As it is shown. */
export function* hexId(message: RefusedMessage): Steps<string> {
  return Buffer.from(yield* entryId(message)).toString("hex");
}
