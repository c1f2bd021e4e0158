import { createHash } from "node:crypto";
import type { AppId } from "../model/ids.ts";
import type { Client } from "./client.ts";
import type { Claim } from "./point.ts";
import { firstPresent, readText } from "./reading/values.ts";

/** In place of the id of a key, for what a broker brings. */
export const BROKER_KEY_ID = "mqtt";

/** Who sends: a key, or a broker in an app's name. */
export interface Sender {
  readonly appId: AppId;
  /** `BROKER_KEY_ID` for a broker. */
  readonly keyId: string;
  /** The last characters of the key, which name a device that has no other name. */
  readonly lastFour: string;
  /** What the key is bound to: it reports as them, whatever its messages claim. */
  readonly deviceId: string | null;
  readonly userId: string | null;
  /** Whether it may ask for other devices too. */
  readonly mayRead: boolean;
}

/** Where the operator's URL says whose device it is: `/ingest/osmand/k/KEY/pixel7`, `?device_id=`, `?user_id=`. */
export interface Address {
  readonly device: string | null;
  readonly user: string | null;
}

/** Whose point it is, as it is stored. */
export interface Identity {
  readonly deviceId: string;
  readonly userId: string | null;
}

const ID_CHARACTERS_MAX = 128;
/** A longer name is no name. To look through one of a megabyte for each point of a batch would take half a minute. */
const NAME_LENGTH_MAX = 16 * 1024;
/** What stays of a longer id, before `~` and the beginning of its hash. */
const KEPT_CHARACTERS = 119;
const HASH_CHARACTERS = 8;

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/g;

/**
 * Who a point is from: what the key is bound to, else what the operator's URL says, else what the client claims, else
 * the client's name with the end of the key. Where a client names a user and a device, both together are the device, so
 * that Anna's `pixel` and Bea's don't meet. Null where that leaves no id that can be one, no name where one must be, or
 * something in the name's place that is none.
 */
export function identify(
  sender: Sender,
  address: Address,
  client: Pick<Client, "name" | "mustNameDevice">,
  claim: Claim,
): Identity | null {
  const [claimedDevice, claimedUser] = [readName(claim.device), readName(claim.user)];
  const told = sender.deviceId ?? address.device;
  if (told === null && claim.isDeviceUnreadable === true) return null;
  const named = told ?? deviceOf(claimedDevice, claimedUser);
  if (named === null && claim.device === null && client.mustNameDevice) return null;
  const device = named ?? `${client.name}-${sender.lastFour}`;
  const user = sender.userId ?? address.user ?? claimedUser ?? readName(claim.driver);
  const deviceId = storedId(device);
  if (deviceId === null) return null;
  return { deviceId, userId: user === null ? null : storedId(user) };
}

/** The name as an id; null where nothing is left of it, or a path can't name it. */
export function storedId(name: string): string | null {
  if (name.length > NAME_LENGTH_MAX) return null;
  // Most names are short and plain, and are looked at for every point.
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

/** What apps call users who never typed a name. */
const DEFAULT_NAMES = new Set(["user", "device", "owntracks", "phone", "colota"]);

/** The name of a device or a user; null if there is none, or only an app's default. */
export function readName(value: unknown): string | null {
  const name = readText(value);
  return name === null || DEFAULT_NAMES.has(name) ? null : name;
}

/** Whether a value is anything but an app's default name. */
export function isNotDefaultName(value: unknown): boolean {
  return typeof value !== "string" || !DEFAULT_NAMES.has(value);
}

/** Whose a point is, by the first of some values that says anything of its device. */
export function claimOf(user: string | null, ...devices: readonly unknown[]): Claim {
  const told = firstPresent(...devices);
  const device = readText(told);
  return device === null && told !== null ? { device, user, isDeviceUnreadable: true } : { device, user };
}

/** A device as its client names it; with its user, so that Anna's `pixel` and Bea's don't meet. */
export function deviceOf(device: string | null, user: string | null): string | null {
  return device === null || user === null ? device : `${user}:${device}`;
}
