import { Buffer } from "node:buffer";
import type { ClientMessage } from "../client.ts";

/* Properties of a message from OwnTracks' apps that need no parsing. */

type Headers = ClientMessage["headers"];

export function isAndroidApp(headers: Headers): boolean {
  return headers["user-agent"]?.startsWith("Owntracks-Android/") === true;
}

/**
 * Whether the sender is the app for iOS, which deletes a message on any 4xx answer. It has no User-Agent of its own,
 * but sends its device in a header, as the app for Android does.
 */
export function deletesRefusedPoints(headers: Headers): boolean {
  return headers["x-limit-d"] !== undefined && !isAndroidApp(headers);
}

/* `dump` and `configuration` messages have the user's password, so they are never stored, not even unreadable ones. */

const TYPE = '"_type"';
const KINDS = ['"dump"', '"configuration"'];

/** Whether an unreadable body may be one of them. */
export function maybeSettings(body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return bytes.includes(TYPE) && KINDS.some((kind) => bytes.includes(kind));
}
