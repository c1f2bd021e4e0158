import { createHash, randomBytes } from "node:crypto";
import type { AppId } from "../../model/ids.ts";

/** Everything that an answer depends on. */
export interface TaggedAnswer {
  readonly appId: AppId;
  /** The fingerprint of the key's view; null if it shows all of the app. */
  readonly view: string | null;
  readonly target: string;
  /** Changes whenever the answer may change. */
  readonly version: string;
}

/**
 * Creates entity tags (RFC 9110 §8.8.3). They are valid for one process: after a restart, or in a restored data
 * directory, the same log entry numbers may stand for other reports. They are weak, since an answer has its query time.
 */
export class EntityTags {
  readonly #processId = randomBytes(16).toString("base64url");

  of({ appId, view, target, version }: TaggedAnswer): string {
    const parts = JSON.stringify([this.#processId, appId, view, target, version]);
    return `W/"${createHash("sha256").update(parts).digest("base64url").slice(0, 27)}"`;
  }
}

/** Whether `If-None-Match` is `*`, or lists the tag; compared weakly, RFC 9110 §13.1.2. */
export function namesTag(list: string | null, tag: string): boolean {
  if (list === null) return false;
  if (list === "*") return true;
  const opaque = withoutWeakness(tag);
  const known = list.split(",").map((item) => withoutWeakness(item.trim()));
  return known.includes(opaque);
}

function withoutWeakness(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}
