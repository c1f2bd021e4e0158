import { Buffer } from "node:buffer";

/*
 * `dump` and `configuration` messages hold their user's password, so nothing of them is kept. That goes for one that
 * can't be read, too, of which only its bytes are known.
 */

const TYPE = '"_type"';
const KINDS = ['"dump"', '"configuration"'];

/** Whether a body that can't be read may be one of them. */
export function maybeSettings(body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return bytes.includes(TYPE) && KINDS.some((kind) => bytes.includes(kind));
}
