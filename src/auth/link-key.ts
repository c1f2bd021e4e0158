import type { KeyRecord } from "./key-file.ts";
import type { KeyStore } from "./key-store.ts";

/** Whether the map page shows anything to whoever signs in with the key. */
export function showsSomething({ permissions }: KeyRecord): boolean {
  return permissions.includes("read") || permissions.includes("view");
}

/** The key that a link signs in as where nobody said: the first that may read and is bound to nobody. */
export function keyForLink(keys: Pick<KeyStore, "list" | "findById">): KeyRecord | null {
  return keysForLinks(keys)[0] ?? null;
}

/** All keys that may read and are bound to nobody. */
export function keysForLinks(keys: Pick<KeyStore, "list" | "findById">): readonly KeyRecord[] {
  return keys.list().filter((key) => {
    const isUnbound = key.deviceId === null && key.userId === null;
    return key.permissions.includes("read") && isUnbound && keys.findById(key.id).kind === "known";
  });
}
