import { claimOf } from "../identity.ts";
import { knownDetails, type PointDetails } from "../point.ts";
import {
  type Found,
  HEARTBEAT,
  type MessageContext,
  NO_FIX,
  UNKNOWN_SHAPE,
} from "../reading/read-message.ts";
import { readSpeedOrNaN } from "../reading/speed.ts";
import { readBatteryStatus, unreadableOf } from "../reading/states.ts";
import { readTime, timeOrArrival } from "../reading/time.ts";
import {
  firstTold,
  isTold,
  type Members,
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
export function findInParameters(told: Members, context: MessageContext): Found {
  const position = positionOf(told);
  const claim = claimOf(context.user, told.id, told.deviceid);
  if (position === null) {
    // Version 10 has no position while it has no fix. Who tells neither device nor time speaks another language, as
    // does who tells a position by other names.
    const isOther = !isTold(told.id) && !isTold(told.deviceid) && readTime(told) === null;
    return isOther || isTold(told.latitude) || isTold(told.longitude) ? UNKNOWN_SHAPE : HEARTBEAT;
  }
  const isValid = readBoolean(told.valid);
  if (isValid === false) return NO_FIX;
  // Nobody knows whether that is a fix.
  if (isValid === null && isTold(told.valid)) return { refused: "bad_coordinates", from: claim };
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

function positionOf(told: Members): { readonly latitude: unknown; readonly longitude: unknown } | null {
  if (typeof told.location === "string") {
    const [latitude, longitude] = told.location.split(",", 2);
    return { latitude, longitude };
  }
  return isTold(told.lat) || isTold(told.lon) ? { latitude: told.lat, longitude: told.lon } : null;
}

function readDetails(told: Members, context: MessageContext) {
  const { os } = context;
  const accuracy = readNumberOrNaN(firstTold(told.accuracy, told.hacc, told.acc));
  const speed = readSpeed(told, context);
  const bearing = readMagnitudeOrNaN(firstTold(told.bearing, told.heading, told.cog));
  // Version 8 for Android writes 0 for all three where its fix has none of them.
  const isUnknown = speed === 0 && bearing === 0 && accuracy === 0;
  const battery = firstTold(told.charge, told.bs);
  const battery_status = readBatteryStatus(battery);
  const is_mock = readBoolean(told.mock);
  const details: PointDetails = knownDetails({
    horizontal_accuracy: readPositiveOrNaN(accuracy),
    vertical_accuracy: readPositiveOrNaN(firstTold(told.vacc, told.vac)),
    altitude: readNumberOrNaN(firstTold(told.altitude, told.alt)),
    speed: isUnknown ? null : speed,
    bearing: isUnknown ? null : bearing,
    battery_level: readMagnitudeOrNaN(firstTold(told.batt, told.bat)),
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
function readSpeed(told: Members, { speedUnit, givenUnit }: MessageContext): number | null {
  const other = firstTold(told.vel, told.spd);
  if (isTold(told.speed) || other === null) return readSpeedOrNaN(told.speed, speedUnit);
  return givenUnit === null ? Number.NaN : readSpeedOrNaN(other, givenUnit);
}
