import { listOf } from "../content.ts";
import type { ClientPoint } from "../point.ts";
import { isPresent } from "./values.ts";

/* Translates the clients' words for the states of battery and movement. */

export type BatteryStatus = "Not Charging" | "Charging" | "Full";

/** From OwnTracks' numbers, Apple's and Android's words, and plain booleans; null if unknown. */
export function readBatteryStatus(value: unknown): BatteryStatus | null {
  switch (typeof value === "string" ? value.toLowerCase() : value) {
    case 1:
    case "1":
    case "unplugged":
    case false:
    case "false":
      return "Not Charging";
    case 2:
    case "2":
    case "charging":
    case true:
    case "true":
      return "Charging";
    case 3:
    case "3":
    case "full":
      return "Full";
    default:
      return null;
  }
}

export type Movement = "MOVING" | "STATIONARY";

const MOVEMENTS: ReadonlyMap<unknown, Movement> = new Map<unknown, Movement>([
  ["walking", "MOVING"],
  ["running", "MOVING"],
  ["cycling", "MOVING"],
  ["driving", "MOVING"],
  ["automotive", "MOVING"],
  ["on_foot", "MOVING"],
  ["on_bicycle", "MOVING"],
  ["in_vehicle", "MOVING"],
  ["stationary", "STATIONARY"],
  ["still", "STATIONARY"],
]);

/** Moving if any activity is a movement; stationary if all known ones are rest. */
export function readMovement(activities: unknown): Movement | null {
  if (!Array.isArray(activities)) return MOVEMENTS.get(activities) ?? null;
  let known: Movement | null = null;
  for (const activity of activities) {
    const movement = MOVEMENTS.get(activity);
    if (movement === "MOVING") return movement;
    known ??= movement ?? null;
  }
  return known;
}

export function readIsMoving(isMoving: unknown): Movement | null {
  if (isMoving === true) return "MOVING";
  return isMoving === false ? "STATIONARY" : null;
}

/** The system of the sender according to its User-Agent; the apps send nothing else about it. */
export function readOs(userAgent: string | undefined): "android" | "ios" | null {
  if (userAgent === undefined) return null;
  if (/^Owntracks-Android\/|\bDalvik\/|\bokhttp\//i.test(userAgent)) return "android";
  return userAgent.includes("CFNetwork/") ? "ios" : null;
}

/** The number at the end of `Owntracks-Android/<flavour>/<code>`. */
export function readAppVersionCode(userAgent: string | undefined): string | null {
  return /^Owntracks-Android\/[^/]*\/(\d{1,20})$/.exec(userAgent ?? "")?.[1] ?? null;
}

/** Values by which clients say that a state is unknown. */
const UNKNOWN_STATES = new Set<unknown>([0, "0", "unknown", "unavailable", "none"]);

/** The fields whose sent value could not be read, from pairs of the sent value and the result. */
export function unreadableOf(
  fields: Readonly<Record<string, readonly [sent: unknown, read: unknown]>>,
): Pick<ClientPoint, "unreadable"> {
  const unreadable = Object.keys(fields).filter((name) => {
    const [sent, read] = fields[name]!;
    return (read ?? null) === null && !saysNothing(sent);
  });
  return unreadable.length === 0 ? {} : { unreadable };
}

function saysNothing(sent: unknown): boolean {
  for (const value of listOf(sent) ?? [sent]) {
    const isUnknown = UNKNOWN_STATES.has(typeof value === "string" ? value.trim().toLowerCase() : value);
    if (isPresent(value) && !isUnknown) return false;
  }
  return true;
}
