import { Buffer } from "node:buffer";
import { isObject } from "../../lib/is-object.ts";

/** What a message that is encrypted holds, to be opened; null for any other. */
export function boxOf(message: unknown): Uint8Array | null {
  if (!isObject(message) || message._type !== "encrypted") return null;
  return Buffer.from(typeof message.data === "string" ? message.data : "", "base64");
}
