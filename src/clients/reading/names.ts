import { readText } from "./values.ts";

/** What apps call everybody who never typed a name. */
const DEFAULT_NAMES = new Set(["user", "device", "owntracks", "phone", "colota"]);

/** The name of a device or a user; null where there is none, or only what an app calls everybody. */
export function readName(value: unknown): string | null {
  const name = readText(value);
  return name === null || DEFAULT_NAMES.has(name) ? null : name;
}

/** A device as its client names it; with its user, so that Anna's `pixel` and Bea's don't meet. */
export function deviceOf(device: string | null, user: string | null): string | null {
  return device === null || user === null ? device : `${user}:${device}`;
}
