import { claimOf } from "../identity.ts";
import { knownDetails } from "../point.ts";
import { HEARTBEAT, type MessageContext, type PointResult, UNKNOWN_SHAPE } from "../reading/read-message.ts";
import { readSpeedOrNaN } from "../reading/speed.ts";
import { readBatteryStatus, readIsMoving, readMovement, unreadableOf } from "../reading/states.ts";
import { timeOrArrival } from "../reading/time.ts";
import {
  firstPresent,
  isJsonObject,
  isPresent,
  type JsonObject,
  objectOrEmpty,
  percentOf,
  readBoolean,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readPositiveOrNaN,
} from "../reading/values.ts";

/** Whether a body has the shape of Traccar Client 9's. */
export function hasCoords(value: unknown): boolean {
  return isJsonObject(value) && isJsonObject(value.location) && isJsonObject(value.location.coords);
}

/**
 * Reads the point of `{"location": {"coords": {…}, "battery": {…}}, "device_id"}` of Traccar Client 9, and of the
 * flatter form of Dawarich's app, which has the coordinates in `location` itself and the battery next to it.
 */
export function findInLocation(body: JsonObject, context: MessageContext): PointResult {
  const location = objectOrEmpty(body.location);
  const coords = isJsonObject(location.coords) ? location.coords : location;
  const claim = claimOf(context.user, body.device_id);
  if (!isPresent(coords.latitude) && !isPresent(coords.longitude))
    return isPresent(coords.lat) || isPresent(coords.lon) ? UNKNOWN_SHAPE : HEARTBEAT;
  return {
    ...claim,
    ...timeOrArrival(context, location, coords, body),
    latitude: readNumberOrNaN(coords.latitude),
    longitude: readNumberOrNaN(coords.longitude),
    ...readDetails({ body, location, coords }, context),
  };
}

/** Values that `location` lacks are read from the members next to it. */
function readDetails(
  {
    body,
    location,
    coords,
  }: { readonly body: JsonObject; readonly location: JsonObject; readonly coords: JsonObject },
  { speedUnit, os }: MessageContext,
) {
  const battery = objectOrEmpty(location.battery ?? body.battery);
  const level = readMagnitudeOrNaN(battery.level);
  const activity = objectOrEmpty(location.activity ?? body.activity);
  const battery_status = readBatteryStatus(battery.is_charging);
  const type = readMovement(activity.type) ?? readIsMoving(location.is_moving);
  const is_mock = readBoolean(location.mock);
  return {
    ...unreadableOf({
      battery_status: [battery.is_charging, battery_status],
      type: [firstPresent(activity.type, location.is_moving), type],
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
