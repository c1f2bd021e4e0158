import { claimOf } from "../identity.ts";
import { knownDetails } from "../point.ts";
import { type Found, HEARTBEAT, type MessageContext, UNKNOWN_SHAPE } from "../reading/read-message.ts";
import { readSpeedOrNaN } from "../reading/speed.ts";
import { readBatteryStatus, readIsMoving, readMovement, unreadableOf } from "../reading/states.ts";
import { timeOrArrival } from "../reading/time.ts";
import {
  firstTold,
  isMembers,
  isTold,
  type Members,
  membersOf,
  percentOf,
  readBoolean,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readPositiveOrNaN,
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
  const claim = claimOf(context.user, body.device_id);
  if (!isTold(coords.latitude) && !isTold(coords.longitude))
    return isTold(coords.lat) || isTold(coords.lon) ? UNKNOWN_SHAPE : HEARTBEAT;
  return {
    ...claim,
    ...timeOrArrival(context, location, coords, body),
    latitude: readNumberOrNaN(coords.latitude),
    longitude: readNumberOrNaN(coords.longitude),
    ...readDetails({ body, location, coords }, context),
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
) {
  const battery = membersOf(location.battery ?? body.battery);
  const level = readMagnitudeOrNaN(battery.level);
  const activity = membersOf(location.activity ?? body.activity);
  const battery_status = readBatteryStatus(battery.is_charging);
  const type = readMovement(activity.type) ?? readIsMoving(location.is_moving);
  const is_mock = readBoolean(location.mock);
  return {
    ...unreadableOf({
      battery_status: [battery.is_charging, battery_status],
      type: [firstTold(activity.type, location.is_moving), type],
      is_mock: [location.mock, is_mock],
    }),
    details: knownDetails({
      horizontal_accuracy: readPositiveOrNaN(coords.accuracy),
      vertical_accuracy: readMagnitudeOrNaN(coords.altitude_accuracy),
      altitude: readNumberOrNaN(coords.altitude),
      speed: readSpeedOrNaN(coords.speed, speedUnit),
      bearing: readMagnitudeOrNaN(coords.heading),
      battery_level: level === null ? null : percentOf(level),
      battery_status,
      type,
      is_mock,
      os,
    }),
  };
}
