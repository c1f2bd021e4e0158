import { createHash, randomBytes } from "node:crypto";
import type { AppId } from "../../model/ids.ts";

/** What an answer depends on. */
export interface TaggedAnswer {
  readonly appId: AppId;
  /** The fingerprint of what the key shows of the app; null for all. */
  readonly view: string | null;
  /** Path and query, as they were asked. */
  readonly asked: string;
  /** Another text whenever the answer may be another. */
  readonly version: string;
}

/**
 * Makes entity tags (RFC 9110 §8.8.3). They hold for one process: after a restart, or in a restored data directory,
 * numbers of entries may stand for other reports. They are weak, since an answer says how long it took too.
 */
export class EntityTags {
  readonly #ofProcess = randomBytes(16).toString("base64url");

  of({ appId, view, asked, version }: TaggedAnswer): string {
    const parts = JSON.stringify([this.#ofProcess, appId, view, asked, version]);
    return `W/"${createHash("sha256").update(parts).digest("base64url").slice(0, 27)}"`;
  }
}

/** Whether `If-None-Match` is `*`, or a list that names a tag; compared weakly, RFC 9110 §13.1.2. */
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
