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

/** Reads the point of `id=…&lat=…&lon=…&timestamp=…` of Traccar Client 8 and 10, by any names that Traccar accepts. */
export function findInParameters(fields: JsonObject, context: MessageContext): PointResult {
  const position = positionOf(fields);
  const claim = claimOf(context.user, fields.id, fields.deviceid);
  if (position === null) {
    // Version 10 sends no position while it has no fix. A message with neither device nor time, or with other names for
    // the position, is in another format.
    const isOther = !isPresent(fields.id) && !isPresent(fields.deviceid) && readTime(fields) === null;
    return isOther || isPresent(fields.latitude) || isPresent(fields.longitude) ? UNKNOWN_SHAPE : HEARTBEAT;
  }
  const isValid = readBoolean(fields.valid);
  if (isValid === false) return NO_FIX;
  // Whether that is a fix is unknown.
  if (isValid === null && isPresent(fields.valid)) return { refused: "bad_coordinates", from: claim };
  const driver = readText(fields.driverUniqueId);
  return {
    ...claim,
    ...(driver !== null && { driver }),
    ...timeOrArrival(context, fields),
    latitude: readNumberOrNaN(position.latitude),
    longitude: readNumberOrNaN(position.longitude),
    ...readDetails(fields, context),
  };
}

function positionOf(fields: JsonObject): { readonly latitude: unknown; readonly longitude: unknown } | null {
  if (typeof fields.location === "string") {
    const [latitude, longitude] = fields.location.split(",", 2);
    return { latitude, longitude };
  }
  return isPresent(fields.lat) || isPresent(fields.lon)
    ? { latitude: fields.lat, longitude: fields.lon }
    : null;
}

function readDetails(fields: JsonObject, context: MessageContext) {
  const { os } = context;
  const accuracy = readNumberOrNaN(firstPresent(fields.accuracy, fields.hacc, fields.acc));
  const speed = readSpeed(fields, context);
  const bearing = readMagnitudeOrNaN(firstPresent(fields.bearing, fields.heading, fields.cog));
  // Version 8 for Android writes 0 for all three if its fix has none of them.
  const isUnknown = speed === 0 && bearing === 0 && accuracy === 0;
  const battery = firstPresent(fields.charge, fields.bs);
  const battery_status = readBatteryStatus(battery);
  const is_mock = readBoolean(fields.mock);
  const details: PointDetails = knownDetails({
    horizontal_accuracy: readPositiveOrNaN(accuracy),
    vertical_accuracy: readPositiveOrNaN(firstPresent(fields.vacc, fields.vac)),
    altitude: readNumberOrNaN(firstPresent(fields.altitude, fields.alt)),
    speed: isUnknown ? null : speed,
    bearing: isUnknown ? null : bearing,
    battery_level: readMagnitudeOrNaN(firstPresent(fields.batt, fields.bat)),
    battery_status,
    is_mock,
    os,
  });
  return {
    ...unreadableOf({
      battery_status: [battery, battery_status],
      is_mock: [fields.mock, is_mock],
      user_id: [fields.driverUniqueId, readText(fields.driverUniqueId)],
    }),
    details,
  };
}

/** Other apps call it `vel` or `spd`, in different units, so it can be read only if the operator sets the unit. */
function readSpeed(fields: JsonObject, { speedUnit, configuredUnit }: MessageContext): number | null {
  const other = firstPresent(fields.vel, fields.spd);
  if (isPresent(fields.speed) || other === null) return readSpeedOrNaN(fields.speed, speedUnit);
  return configuredUnit === null ? Number.NaN : readSpeedOrNaN(other, configuredUnit);
}
