import type { PointDetails } from "../point.ts";
import { type MessageContext, timeOrArrivalMs } from "../reading/context.ts";
import { knownDetails } from "../reading/details.ts";
import { type Found, HEARTBEAT, NO_FIX, UNKNOWN_SHAPE } from "../reading/found.ts";
import type { Members } from "../reading/members.ts";
import { readSpeed } from "../reading/speed.ts";
import { readBatteryStatus } from "../reading/states.ts";
import { readBoolean, readMagnitude, readNumber, readPositive, readText } from "../reading/values.ts";

/**
 * Finds the point of `id=…&lat=…&lon=…&timestamp=…` of Traccar Client 8 and 10, by the other names too that Traccar's
 * server knows.
 */
export function findInParameters(told: Members, context: MessageContext): Found {
  const position = positionOf(told);
  if (position === null) {
    // Version 10 has no position while it has no fix. Who tells neither device nor time speaks another language, as
    // does who tells a position by other names.
    const isOther = (told.id ?? told.deviceid ?? told.timestamp ?? null) === null;
    return isOther || (told.latitude ?? told.longitude ?? null) !== null ? UNKNOWN_SHAPE : HEARTBEAT;
  }
  if (readBoolean(told.valid) === false) return NO_FIX;
  const driver = readText(told.driverUniqueId);
  return {
    device: readText(told.id) ?? readText(told.deviceid),
    user: context.user,
    ...(driver !== null && { driver }),
    timestampMs: timeOrArrivalMs(told.timestamp, context),
    latitude: readNumber(position.latitude),
    longitude: readNumber(position.longitude),
    details: readDetails(told, context),
  };
}

function positionOf(told: Members): { readonly latitude: unknown; readonly longitude: unknown } | null {
  if (typeof told.location === "string") {
    const [latitude, longitude] = told.location.split(",", 2);
    return { latitude, longitude };
  }
  return (told.lat ?? told.lon ?? null) === null ? null : { latitude: told.lat, longitude: told.lon };
}

function readDetails(told: Members, { speedUnit, os }: MessageContext): PointDetails {
  const accuracy = told.accuracy ?? told.hacc;
  const speed = readSpeed(told.speed, speedUnit);
  const bearing = readMagnitude(told.bearing ?? told.heading);
  // Version 8 for Android writes 0 for all three where its fix has none of them.
  const isUnknown = speed === 0 && bearing === 0 && readNumber(accuracy) === 0;
  return knownDetails({
    horizontal_accuracy: readPositive(accuracy),
    vertical_accuracy: readPositive(told.vacc),
    altitude: readNumber(told.altitude),
    speed: isUnknown ? null : speed,
    bearing: isUnknown ? null : bearing,
    battery_level: readMagnitude(told.batt),
    battery_status: readBatteryStatus(told.charge),
    is_mock: readBoolean(told.mock),
    os,
  });
}
