import { claimOf } from "../identity.ts";
import { knownDetails, type PointDetails } from "../point.ts";
import {
  HEARTBEAT,
  type MessageContext,
  NO_FIX,
  type PointResult,
  UNKNOWN_SHAPE,
} from "../reading/read-message.ts";
import { readSpeedOrNaN } from "../reading/speed.ts";
import { readBatteryStatus, unreadableOf } from "../reading/states.ts";
import { readTime, timeOrArrival } from "../reading/time.ts";
import {
  firstPresent,
  isPresent,
  type JsonObject,
  readBoolean,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readPositiveOrNaN,
  readText,
} from "../reading/values.ts";

/**
 * Finds the point of `id=…&lat=…&lon=…&timestamp=…` of Traccar Client 8 and 10, by the other names too that Traccar's
 * server knows.
 */
export function findInParameters(told: JsonObject, context: MessageContext): PointResult {
  const position = positionOf(told);
  const claim = claimOf(context.user, told.id, told.deviceid);
  if (position === null) {
    // Version 10 has no position while it has no fix. Who tells neither device nor time speaks another language, as
    // does who tells a position by other names.
    const isOther = !isPresent(told.id) && !isPresent(told.deviceid) && readTime(told) === null;
    return isOther || isPresent(told.latitude) || isPresent(told.longitude) ? UNKNOWN_SHAPE : HEARTBEAT;
  }
  const isValid = readBoolean(told.valid);
  if (isValid === false) return NO_FIX;
  // Nobody knows whether that is a fix.
  if (isValid === null && isPresent(told.valid)) return { refused: "bad_coordinates", from: claim };
  const driver = readText(told.driverUniqueId);
  return {
    ...claim,
    ...(driver !== null && { driver }),
    ...timeOrArrival(context, told),
    latitude: readNumberOrNaN(position.latitude),
    longitude: readNumberOrNaN(position.longitude),
    ...readDetails(told, context),
  };
}

function positionOf(told: JsonObject): { readonly latitude: unknown; readonly longitude: unknown } | null {
  if (typeof told.location === "string") {
    const [latitude, longitude] = told.location.split(",", 2);
    return { latitude, longitude };
  }
  return isPresent(told.lat) || isPresent(told.lon) ? { latitude: told.lat, longitude: told.lon } : null;
}

function readDetails(told: JsonObject, context: MessageContext) {
  const { os } = context;
  const accuracy = readNumberOrNaN(firstPresent(told.accuracy, told.hacc, told.acc));
  const speed = readSpeed(told, context);
  const bearing = readMagnitudeOrNaN(firstPresent(told.bearing, told.heading, told.cog));
  // Version 8 for Android writes 0 for all three where its fix has none of them.
  const isUnknown = speed === 0 && bearing === 0 && accuracy === 0;
  const battery = firstPresent(told.charge, told.bs);
  const battery_status = readBatteryStatus(battery);
  const is_mock = readBoolean(told.mock);
  const details: PointDetails = knownDetails({
    horizontal_accuracy: readPositiveOrNaN(accuracy),
    vertical_accuracy: readPositiveOrNaN(firstPresent(told.vacc, told.vac)),
    altitude: readNumberOrNaN(firstPresent(told.altitude, told.alt)),
    speed: isUnknown ? null : speed,
    bearing: isUnknown ? null : bearing,
    battery_level: readMagnitudeOrNaN(firstPresent(told.batt, told.bat)),
    battery_status,
    is_mock,
    os,
  });
  return {
    ...unreadableOf({
      battery_status: [battery, battery_status],
      is_mock: [told.mock, is_mock],
      user_id: [told.driverUniqueId, readText(told.driverUniqueId)],
    }),
    details,
  };
}

/** Other apps call it `vel` or `spd`, each in a unit of its own: that can be read only if the operator says which. */
function readSpeed(told: JsonObject, { speedUnit, configuredUnit }: MessageContext): number | null {
  const other = firstPresent(told.vel, told.spd);
  if (isPresent(told.speed) || other === null) return readSpeedOrNaN(told.speed, speedUnit);
  return configuredUnit === null ? Number.NaN : readSpeedOrNaN(other, configuredUnit);
}
