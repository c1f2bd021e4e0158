import { Buffer } from "node:buffer";
import type { ClientMessage } from "../client.ts";

/*
 * What is known of a message of OwnTracks' apps without reading it.
 */

type Headers = ClientMessage["headers"];

export function isAndroidApp(headers: Headers): boolean {
  return headers["user-agent"]?.startsWith("Owntracks-Android/") === true;
}

/**
 * Whether it is the app for iOS, which deletes what any 4xx answers. It has no User-Agent of its own, but names its
 * device in a header, as the one for Android does.
 */
export function deletesWhatIsRefused(headers: Headers): boolean {
  return headers["x-limit-d"] !== undefined && !isAndroidApp(headers);
}

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
