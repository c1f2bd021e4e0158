import { metersPerSecond, readSpeedOrNaN, type SpeedUnit } from "../../../clients/reading/speed.ts";
import { readBatteryStatus, readMovement } from "../../../clients/reading/states.ts";
import {
  type JsonObject,
  percentOf,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readText,
} from "../../../clients/reading/values.ts";
import { PROFILE_FIELDS, STATE_FIELDS } from "../../../model/location-fields.ts";
import type { FileDetails } from "../file-point.ts";

/** Names that programs give to one thing; the first that a Feature has counts. */
export const ALIASES = {
  time: ["timestamp", "time", "time_long", "datetime", "when", "date", "recorded_at", "tst", "created_at"],
  speedMps: ["speed", "velocity", "vel", "speed_mps"],
  speedKmh: ["speed_kmh", "speed_kph"],
  accuracy: ["horizontal_accuracy", "accuracy", "acc"],
  verticalAccuracy: ["vertical_accuracy", "vac"],
  altitude: ["altitude", "alt", "ele", "elevation"],
  bearing: ["bearing", "course", "heading", "cog"],
  battery: ["battery_level", "battery", "batt", "bat"],
  batteryStatus: ["battery_status", "battery_state", "bs"],
  movement: ["motion"],
  device: ["device_id", "deviceId", "tracker_id", "tid"],
  user: ["user_id"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The first value that is told under one of the names. */
export function firstTold(properties: JsonObject, names: readonly string[]): unknown {
  for (const name of names) {
    const value = properties[name];
    if (value !== undefined && value !== null && value !== "") return value;
  }
  return null;
}

/** What the file calls a device or user. */
export function readNameOf(properties: JsonObject, names: readonly string[]): string | null {
  return readText(firstTold(properties, names));
}

/** How what a file says is to be understood. */
export interface Dialect {
  /** What the operator says of speeds whose name tells no unit. */
  readonly speedUnit: SpeedUnit | null;
  /** Whether it is Overland's, where a battery of 1 is a full one, and events stand among positions. */
  readonly isOverland: boolean;
}

/** Member by member rather than from a table: files have millions of Features. */
export function readDetails(properties: JsonObject, thirdCoordinate: unknown, dialect: Dialect): FileDetails {
  const details: FileDetails = {};
  const accuracy = readMagnitudeOrNaN(firstTold(properties, ALIASES.accuracy));
  if (accuracy !== null) details.horizontal_accuracy = accuracy;
  const verticalAccuracy = readMagnitudeOrNaN(firstTold(properties, ALIASES.verticalAccuracy));
  if (verticalAccuracy !== null) details.vertical_accuracy = verticalAccuracy;
  const altitude =
    readNumberOrNaN(firstTold(properties, ALIASES.altitude)) ?? readNumberOrNaN(thirdCoordinate);
  if (altitude !== null) details.altitude = altitude;
  const speed = readSpeedMps(properties, dialect);
  if (speed !== null) details.speed = speed;
  const bearing = readMagnitudeOrNaN(firstTold(properties, ALIASES.bearing));
  if (bearing !== null) details.bearing = bearing;
  const battery = readMagnitudeOrNaN(firstTold(properties, ALIASES.battery));
  if (isOwn(properties)) {
    if (battery !== null) details.battery_level = battery;
    return Object.assign(details, readOwnTexts(properties));
  }
  if (battery !== null) details.battery_level = percentIn(battery, dialect);
  const batteryStatus = readBatteryStatus(firstTold(properties, ALIASES.batteryStatus));
  if (batteryStatus !== null) details.battery_status = batteryStatus;
  const movement = readMovement(firstTold(properties, ALIASES.movement));
  if (movement !== null) details.type = movement;
  return details;
}

function readSpeedMps(properties: JsonObject, { speedUnit }: Dialect): number | null {
  const speed = firstTold(properties, ALIASES.speedMps);
  if (speed === null) return readSpeedOrNaN(firstTold(properties, ALIASES.speedKmh), "kmh");
  const magnitude = readMagnitudeOrNaN(speed);
  if (magnitude === null) return null;
  return metersPerSecond(magnitude, speedUnit ?? (isOwnTracksSpeed(properties, speed) ? "kmh" : "mps"));
}

/** OwnTracks' `vel` is in km/h; a `velocity` beside its topic comes from who has converted it. */
function isOwnTracksSpeed({ vel, topic }: JsonObject, speed: unknown): boolean {
  return speed === vel && typeof topic === "string" && topic.startsWith("owntracks/");
}

/** What lies between nothing and one is a share of one. */
function percentIn(battery: number, { isOverland }: Dialect): number {
  const isShare = isOverland ? battery <= 1 : battery > 0 && battery < 1;
  return isShare ? percentOf(battery) : battery;
}

/** What a record carries in words, but for its user, who is no detail. */
const WORDS = [...PROFILE_FIELDS, ...STATE_FIELDS].filter(({ name }) => name !== "user_id");

/** Whether a Feature was written by this program, so that words in it are ours: milliseconds beside an ISO time. */
function isOwn({ timestamp, time }: JsonObject): boolean {
  return typeof timestamp === "number" && timestamp >= 1e11 && typeof time === "string";
}

function readOwnTexts(properties: JsonObject): FileDetails {
  const details: Record<string, unknown> = {};
  for (const { name, type } of WORDS) {
    const value = properties[name];
    if (typeof value === type) details[name] = value;
  }
  return details;
}
