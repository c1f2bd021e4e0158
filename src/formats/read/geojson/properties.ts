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

/** Property names that programs use; the first one that is present counts. */
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

/** The first value under one of the names. */
export function firstValueOf(properties: JsonObject, names: readonly string[]): unknown {
  for (const name of names) {
    const value = properties[name];
    if (value !== undefined && value !== null && value !== "") return value;
  }
  return null;
}

/** The name of a device or user. */
export function readNameOf(properties: JsonObject, names: readonly string[]): string | null {
  return readText(firstValueOf(properties, names));
}

/** How to interpret the values of a file. */
export interface Dialect {
  /** The unit of speeds whose name has none, if the operator gave it. */
  readonly speedUnit: SpeedUnit | null;
  /** Whether Overland wrote it: a battery of 1 is full, and there are events among the positions. */
  readonly isOverland: boolean;
}

/** Written out member by member for speed: files have millions of Features. */
export function readDetails(properties: JsonObject, thirdCoordinate: unknown, dialect: Dialect): FileDetails {
  const details: FileDetails = {};
  const accuracy = readMagnitudeOrNaN(firstValueOf(properties, ALIASES.accuracy));
  if (accuracy !== null) details.horizontal_accuracy = accuracy;
  const verticalAccuracy = readMagnitudeOrNaN(firstValueOf(properties, ALIASES.verticalAccuracy));
  if (verticalAccuracy !== null) details.vertical_accuracy = verticalAccuracy;
  const altitude =
    readNumberOrNaN(firstValueOf(properties, ALIASES.altitude)) ?? readNumberOrNaN(thirdCoordinate);
  if (altitude !== null) details.altitude = altitude;
  const speed = readSpeedMps(properties, dialect);
  if (speed !== null) details.speed = speed;
  const bearing = readMagnitudeOrNaN(firstValueOf(properties, ALIASES.bearing));
  if (bearing !== null) details.bearing = bearing;
  const battery = readMagnitudeOrNaN(firstValueOf(properties, ALIASES.battery));
  if (isOwn(properties)) {
    if (battery !== null) details.battery_level = battery;
    return Object.assign(details, readOwnTexts(properties));
  }
  if (battery !== null) details.battery_level = percentIn(battery, dialect);
  const batteryStatus = readBatteryStatus(firstValueOf(properties, ALIASES.batteryStatus));
  if (batteryStatus !== null) details.battery_status = batteryStatus;
  const movement = readMovement(firstValueOf(properties, ALIASES.movement));
  if (movement !== null) details.type = movement;
  return details;
}

function readSpeedMps(properties: JsonObject, { speedUnit }: Dialect): number | null {
  const speed = firstValueOf(properties, ALIASES.speedMps);
  if (speed === null) return readSpeedOrNaN(firstValueOf(properties, ALIASES.speedKmh), "kmh");
  const magnitude = readMagnitudeOrNaN(speed);
  if (magnitude === null) return null;
  return metersPerSecond(magnitude, speedUnit ?? (isOwnTracksSpeed(properties, speed) ? "kmh" : "mps"));
}

/** OwnTracks' `vel` is in km/h; a `velocity` beside its topic was converted by another program. */
function isOwnTracksSpeed({ vel, topic }: JsonObject, speed: unknown): boolean {
  return speed === vel && typeof topic === "string" && topic.startsWith("owntracks/");
}

/** A value between 0 and 1 is a fraction. */
function percentIn(battery: number, { isOverland }: Dialect): number {
  const isShare = isOverland ? battery <= 1 : battery > 0 && battery < 1;
  return isShare ? percentOf(battery) : battery;
}

/** The text fields of a record, except the user, which is not a detail. */
const TEXT_FIELDS = [...PROFILE_FIELDS, ...STATE_FIELDS].filter(({ name }) => name !== "user_id");

/** Whether this program wrote the Feature, so that its texts are ours: it has milliseconds beside an ISO time. */
function isOwn({ timestamp, time }: JsonObject): boolean {
  return typeof timestamp === "number" && timestamp >= 1e11 && typeof time === "string";
}

function readOwnTexts(properties: JsonObject): FileDetails {
  const details: Record<string, unknown> = {};
  for (const { name, type } of TEXT_FIELDS) {
    const value = properties[name];
    if (typeof value === type) details[name] = value;
  }
  return details;
}
