import type { Claim } from "../point.ts";
import { firstTold, readText } from "./values.ts";

/** What apps call everybody who never typed a name. */
const DEFAULT_NAMES = new Set(["user", "device", "owntracks", "phone", "colota"]);

/** The name of a device or a user; null where there is none, or only what an app calls everybody. */
export function readName(value: unknown): string | null {
  const name = readText(value);
  return name === null || DEFAULT_NAMES.has(name) ? null : name;
}

/** Whether a value is anything but what an app calls everybody. */
export function isNoDefaultName(value: unknown): boolean {
  return typeof value !== "string" || !DEFAULT_NAMES.has(value);
}

/** Whose a point is, by the first of some values that says anything of its device. */
export function claimOf(user: string | null, ...devices: readonly unknown[]): Claim {
  const told = firstTold(...devices);
  const device = readText(told);
  return device === null && told !== null ? { device, user, isDeviceUnreadable: true } : { device, user };
}

/** A device as its client names it; with its user, so that Anna's `pixel` and Bea's don't meet. */
export function deviceOf(device: string | null, user: string | null): string | null {
  return device === null || user === null ? device : `${user}:${device}`;
}
