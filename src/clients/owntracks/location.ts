import type { ClientMessage } from "../client.ts";
import type { ClientPoint, PointDetails } from "../point.ts";
import { knownDetails } from "../reading/details.ts";
import type { Members } from "../reading/members.ts";
import { metersPerSecond, type SpeedUnit } from "../reading/speed.ts";
import { readAppVersionCode, readBatteryStatus, readMovement, readOs } from "../reading/states.ts";
import { readTimeMs } from "../reading/time.ts";
import { readMagnitude, readNumber, readPositive } from "../reading/values.ts";
import { isAndroidApp } from "./apps.ts";
import { readClaim } from "./claim.ts";

const MONITORING_MODES: ReadonlyMap<unknown, string> = new Map([
  [-1, "QUIET"],
  [0, "MANUAL"],
  [1, "SIGNIFICANT"],
  [2, "MOVE"],
]);

/** A message of `_type` `location`; null where it has no position at all. */
export function readLocation(members: Members, message: ClientMessage): ClientPoint | null {
  const { lat, lon, tst } = members;
  if ((lat ?? lon ?? null) === null) return null;
  return {
    ...readClaim(message, members),
    timestampMs: readTimeMs(tst),
    latitude: readDegrees(lat),
    longitude: readDegrees(lon),
    details: readDetails(members, message),
  };
}

/** On Android what is exactly 0 is left out, so on the equator or at Greenwich one of the two is missing. */
function readDegrees(value: unknown): number | null {
  return value === undefined ? 0 : readNumber(value);
}

function readDetails(members: Members, message: ClientMessage): PointDetails {
  const { headers } = message;
  const velocity = readMagnitude(members.vel);
  const verticalAccuracy = readPositive(members.vac);
  const altitude = readNumber(members.alt);
  const bearing = readMagnitude(members.cog);
  return knownDetails({
    horizontal_accuracy: readPositive(members.acc),
    vertical_accuracy: verticalAccuracy,
    // iOS says 0 where it doesn't know.
    altitude: altitude === 0 && verticalAccuracy === null ? null : altitude,
    speed: velocity === null ? null : metersPerSecond(velocity, speedUnitOf(members, message)),
    // North, or not known: who moves knows where to.
    bearing: bearing === 0 && !(velocity !== null && velocity > 0) ? null : bearing,
    battery_level: readMagnitude(members.batt),
    battery_status: readBatteryStatus(members.bs),
    network_status: readNetwork(members.conn),
    type: readMovement(members.motionactivities),
    tracking_mode: MONITORING_MODES.get(readNumber(members.m)) ?? null,
    os: readOs(headers["user-agent"]),
    app_version_code: readAppVersionCode(headers["user-agent"]),
  });
}

/** The apps send km/h. Others who write messages like theirs send m/s, and leave out what the apps' messages have. */
function speedUnitOf(members: Members, { speedUnit, topic, headers }: ClientMessage): SpeedUnit {
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
