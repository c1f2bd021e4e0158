import { createHash } from "node:crypto";
import type { AppId } from "../model/ids.ts";
import type { Client } from "./client.ts";
import type { Claim } from "./point.ts";
import { firstPresent, readText } from "./reading/values.ts";

/** Stands for the key id of messages from a broker. */
export const BROKER_KEY_ID = "mqtt";

/** The sender of messages: a key, or a broker on behalf of an app. */
export interface Sender {
  readonly appId: AppId;
  readonly keyId: string;
  /** The last characters of the key. They name a device that has no other name. */
  readonly lastFour: string;
  /** The key's binding. It overrides what messages claim. */
  readonly deviceId: string | null;
  readonly userId: string | null;
  /** Whether the key may also query other devices. */
  readonly mayRead: boolean;
}

/** The device and user in the URL that the operator set: `/ingest/osmand/k/KEY/pixel7`, `?device_id=`, `?user_id=`. */
export interface Address {
  readonly device: string | null;
  readonly user: string | null;
}

/** The device and user under which a point is stored. */
export interface Identity {
  readonly deviceId: string;
  readonly userId: string | null;
}

const ID_CHARACTERS_MAX = 128;
/** Longer names are ignored: to scan a name of a megabyte for each point of a batch would take half a minute. */
const NAME_LENGTH_MAX = 16 * 1024;
/** The part of an overlong id that is stored before `~` and the first characters of its hash. */
const KEPT_CHARACTERS = 119;
const HASH_CHARACTERS = 8;

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * Names the device and user of a point. The key's binding comes first, then the operator's URL, then the client's
 * claim, then the client's name with the end of the key. If a client names a user and a device, the device id has both,
 * so that Anna's `pixel` differs from Bea's. Null if no valid id results, if a required name is missing, or if the
 * client names the device by something that is not a name.
 */
export function identify(
  sender: Sender,
  address: Address,
  client: Pick<Client, "name" | "mustNameDevice">,
  claim: Claim,
): Identity | null {
  const [claimedDevice, claimedUser] = [readName(claim.device), readName(claim.user)];
  const configured = sender.deviceId ?? address.device;
  if (configured === null && claim.isDeviceUnreadable === true) return null;
  const named = configured ?? deviceOf(claimedDevice, claimedUser);
  if (named === null && claim.device === null && client.mustNameDevice) return null;
  const device = named ?? `${client.name}-${sender.lastFour}`;
  const user = sender.userId ?? address.user ?? claimedUser ?? readName(claim.driver);
  const deviceId = storedId(device);
  if (deviceId === null) return null;
  return { deviceId, userId: user === null ? null : storedId(user) };
}

/** The name as an id; null if nothing remains of it, or if it can't be a path segment. */
export function storedId(name: string): string | null {
  if (name.length > NAME_LENGTH_MAX) return null;
  // Most names are short and plain; this runs for every point.
  if (PLAIN_NAME.test(name)) return name;
  const id = cut(name.replace(CONTROL_CHARACTERS, ""));
  return id === "" || id === "." || id === ".." || !id.isWellFormed() ? null : id;
}

const PLAIN_NAME = /^[A-Za-z0-9_:-]{1,128}$/;

function cut(name: string): string {
  const characters = [...name];
  if (characters.length <= ID_CHARACTERS_MAX) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_CHARACTERS);
  return `${characters.slice(0, KEPT_CHARACTERS).join("")}~${hash}`;
}

/** Names that apps use for users who typed none. */
const DEFAULT_NAMES = new Set(["user", "device", "owntracks", "phone", "colota"]);

/** The name of a device or a user; null if it is missing or an app's default. */
export function readName(value: unknown): string | null {
  const name = readText(value);
  return name === null || DEFAULT_NAMES.has(name) ? null : name;
}

export function isNotDefaultName(value: unknown): boolean {
  return typeof value !== "string" || !DEFAULT_NAMES.has(value);
}

/** The claim of a point, from the first of several device values that is present. */
export function claimOf(user: string | null, ...devices: readonly unknown[]): Claim {
  const value = firstPresent(...devices);
  const device = readText(value);
  return device === null && value !== null ? { device, user, isDeviceUnreadable: true } : { device, user };
}

/** The client's name of a device, prefixed with its user, so that Anna's `pixel` differs from Bea's. */
export function deviceOf(device: string | null, user: string | null): string | null {
  return device === null || user === null ? device : `${user}:${device}`;
}
