import type { ClientMessage } from "../client.ts";
import { type ClientPoint, knownDetails, type PointDetails } from "../point.ts";
import { metersPerSecond, type SpeedUnit } from "../reading/speed.ts";
import {
  readAppVersionCode,
  readBatteryStatus,
  readMovement,
  readOs,
  unreadableOf,
} from "../reading/states.ts";
import { readTime } from "../reading/time.ts";
import {
  isPresent,
  type JsonObject,
  readMagnitudeOrNaN,
  readNumber,
  readNumberOrNaN,
  readPositiveOrNaN,
} from "../reading/values.ts";
import { isAndroidApp } from "./apps.ts";
import { readClaim } from "./claim.ts";

const MONITORING_MODES: ReadonlyMap<unknown, string> = new Map([
  [-1, "QUIET"],
  [0, "MANUAL"],
  [1, "SIGNIFICANT"],
  [2, "MOVE"],
]);

/** Reads a message with `_type` `location`; null if it has no position. */
export function readLocation(members: JsonObject, message: ClientMessage): ClientPoint | null {
  const { lat, lon } = members;
  if (!isPresent(lat) && !isPresent(lon)) return null;
  const details = readDetails(members, message);
  return {
    ...readClaim(message, members),
    timestampMs: readTime(members),
    latitude: readDegrees(lat, members),
    longitude: readDegrees(lon, members),
    ...unreadableStates(members, details),
    details,
  };
}

/** Other apps' names of coordinates. A message with one of them omits no zeros. */
const OTHER_NAMES = ["latitude", "longitude", "lng", "long"] as const;

/** The app for Android omits values that are exactly 0, so on the equator or at Greenwich one coordinate is missing. */
function readDegrees(value: unknown, members: JsonObject): number | null {
  if (value !== undefined) return readNumberOrNaN(value);
  return OTHER_NAMES.some((name) => isPresent(members[name])) ? null : 0;
}

function unreadableStates(members: JsonObject, details: PointDetails): Pick<ClientPoint, "unreadable"> {
  const { bs, conn, motionactivities, m } = members;
  return unreadableOf({
    battery_status: [bs, details.battery_status],
    network_status: [conn, details.network_status],
    type: [motionactivities, details.type],
    tracking_mode: [m, details.tracking_mode],
  });
}

function readDetails(members: JsonObject, message: ClientMessage): PointDetails {
  const { headers } = message;
  const velocity = readMagnitudeOrNaN(members.vel);
  const verticalAccuracy = readPositiveOrNaN(members.vac);
  const altitude = readNumberOrNaN(members.alt);
  const bearing = readMagnitudeOrNaN(members.cog);
  return knownDetails({
    horizontal_accuracy: readPositiveOrNaN(members.acc),
    vertical_accuracy: verticalAccuracy,
    // iOS sends 0 if the altitude is unknown.
    altitude: altitude === 0 && verticalAccuracy === null ? null : altitude,
    speed: velocity === null ? null : metersPerSecond(velocity, speedUnitOf(members, message)),
    // 0 means north or unknown, and only a moving device knows its heading.
    bearing: bearing === 0 && !(velocity !== null && velocity > 0) ? null : bearing,
    battery_level: readMagnitudeOrNaN(members.batt),
    battery_status: readBatteryStatus(members.bs),
    network_status: readNetwork(members.conn),
    type: readMovement(members.motionactivities),
    tracking_mode: MONITORING_MODES.get(readNumber(members.m)) ?? null,
    os: readOs(headers["user-agent"]),
    app_version_code: readAppVersionCode(headers["user-agent"]),
  });
}

/** The apps send km/h. Other senders of this format send m/s and lack members that the apps' messages have. */
function speedUnitOf(members: JsonObject, { speedUnit, topic, headers }: ClientMessage): SpeedUnit {
  if (speedUnit !== null) return speedUnit;
  const isOfApp =
    topic !== null ||
    members.topic !== undefined ||
    (members._id !== undefined && members.created_at !== undefined) ||
    isAndroidApp(headers);
  return isOfApp ? "kmh" : "mps";
}

function readNetwork(connection: unknown): boolean | null {
  if (connection === "w" || connection === "m") return true;
  return connection === "o" ? false : null;
}
