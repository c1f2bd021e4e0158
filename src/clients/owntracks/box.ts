import { Buffer } from "node:buffer";
import { decodeBase64 } from "../../lib/bytes/base64.ts";
import { isObject } from "../../lib/is-object.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { LongText } from "../content.ts";

/** As it came, with whatever else it says. */
export type Encrypted = Readonly<Record<string, unknown>> & { readonly _type: "encrypted" };

/** Whether a message is one that has to be opened first. */
export function isEncrypted(message: unknown): message is Encrypted {
  return isObject(message) && message._type === "encrypted";
}

/** The box that an encrypted message holds; an empty one where it holds none. */
export function* readBox({ data }: Encrypted): Steps<Uint8Array> {
  if (data instanceof LongText) return yield* decodeBase64(data.bytes);
  return yield* decodeBase64(Buffer.from(typeof data === "string" ? data : ""));
}
