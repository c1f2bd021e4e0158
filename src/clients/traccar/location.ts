import type { PointDetails } from "../point.ts";
import { type MessageContext, timeOrArrivalMs } from "../reading/context.ts";
import { knownDetails } from "../reading/details.ts";
import { type Found, HEARTBEAT, UNKNOWN_SHAPE } from "../reading/found.ts";
import { isMembers, type Members, membersOf } from "../reading/members.ts";
import { readSpeed } from "../reading/speed.ts";
import { readBatteryStatus, readIsMoving, readMovement } from "../reading/states.ts";
import {
  percentOf,
  readBoolean,
  readMagnitude,
  readNumber,
  readPositive,
  readText,
} from "../reading/values.ts";

/** Whether a body is Traccar Client 9's by its shape. */
export function hasCoords(value: unknown): boolean {
  return isMembers(value) && isMembers(value.location) && isMembers(value.location.coords);
}

/**
 * Finds the point of `{"location": {"coords": {…}, "battery": {…}}, "device_id"}` of Traccar Client 9, and of the
 * flatter one of Dawarich's app, which has the coordinates in `location` itself and the battery beside it.
 */
export function findInLocation(body: Members, context: MessageContext): Found {
  const location = membersOf(body.location);
  const coords = isMembers(location.coords) ? location.coords : location;
  if ((coords.latitude ?? coords.longitude ?? null) === null)
    return (coords.lat ?? coords.lon ?? null) === null ? HEARTBEAT : UNKNOWN_SHAPE;
  return {
    device: readText(body.device_id),
    user: context.user,
    timestampMs: timeOrArrivalMs(location.timestamp, context),
    latitude: readNumber(coords.latitude),
    longitude: readNumber(coords.longitude),
    details: readDetails({ body, location, coords }, context),
  };
}

/** What is not in `location` is looked for beside it. */
function readDetails(
  {
    body,
    location,
    coords,
  }: { readonly body: Members; readonly location: Members; readonly coords: Members },
  { speedUnit, os }: MessageContext,
): PointDetails {
  const battery = membersOf(location.battery ?? body.battery);
  const level = readMagnitude(battery.level);
  const activity = membersOf(location.activity ?? body.activity);
  return knownDetails({
    horizontal_accuracy: readPositive(coords.accuracy),
    vertical_accuracy: readMagnitude(coords.altitude_accuracy),
    altitude: readNumber(coords.altitude),
    speed: readSpeed(coords.speed, speedUnit),
    bearing: readMagnitude(coords.heading),
    battery_level: level === null ? null : percentOf(level),
    battery_status: readBatteryStatus(battery.is_charging),
    type: readMovement(activity.type) ?? readIsMoving(location.is_moving),
    is_mock: readBoolean(location.mock),
    os,
  });
}
