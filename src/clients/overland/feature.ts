import { listOf } from "../content.ts";
import type { PointDetails } from "../point.ts";
import type { MessageContext } from "../reading/context.ts";
import { type Found, NO_POSITION, UNKNOWN_SHAPE } from "../reading/found.ts";
import { isMembers } from "../reading/members.ts";
import { readSpeed } from "../reading/speed.ts";
import { readBatteryStatus, readMovement } from "../reading/states.ts";
import { readTimeMs } from "../reading/time.ts";
import { percentOf, readMagnitude, readNumber, readText } from "../reading/values.ts";

/** What all features of a batch share. */
export interface BatchContext extends MessageContext {
  /** Colota names the device once, beside the list. */
  readonly batchDevice: string | null;
}

const EVENT: Found = { skipped: "event" };
const TRIP: Found = { skipped: "trip" };

/** What a GeoJSON feature tells: a position, or one of the events that the app logs among them. */
export function findInFeature(feature: unknown, context: BatchContext): Found {
  if (!isMembers(feature) || !isMembers(feature.properties)) return UNKNOWN_SHAPE;
  const { geometry, properties } = feature;
  if (properties.action !== undefined) return EVENT;
  if (properties.type === "trip") return TRIP;
  const coordinates = isMembers(geometry) ? listOf(geometry.coordinates) : null;
  if (coordinates === null) return NO_POSITION;

  const [longitude, latitude] = coordinates;
  return {
    device: readText(properties.device_id) ?? readText(properties.unique_id) ?? context.batchDevice,
    user: context.user,
    timestampMs: readTimeMs(properties.timestamp),
    latitude: readNumber(latitude),
    longitude: readNumber(longitude),
    details: readDetails(properties, context),
  };
}

/** Member by member rather than from a table: batches of hundreds come this way. */
function readDetails(properties: Readonly<Record<string, unknown>>, context: BatchContext): PointDetails {
  const details: PointDetails = {};
  const accuracy = readMagnitude(properties.horizontal_accuracy);
  if (accuracy !== null) details.horizontal_accuracy = accuracy;

  // A negative vertical accuracy says that the altitude is none.
  const verticalAccuracy = readNumber(properties.vertical_accuracy);
  const altitude = readNumber(properties.altitude);
  if (verticalAccuracy !== null && verticalAccuracy >= 0) details.vertical_accuracy = verticalAccuracy;
  if (altitude !== null && !(verticalAccuracy !== null && verticalAccuracy < 0)) details.altitude = altitude;

  const speed = readSpeed(properties.speed, context.speedUnit);
  if (speed !== null) details.speed = speed;
  const bearing = readMagnitude(properties.course);
  if (bearing !== null) details.bearing = bearing;

  const batteryLevel = readMagnitude(properties.battery_level);
  if (batteryLevel !== null) details.battery_level = percentOf(batteryLevel);
  const batteryStatus = readBatteryStatus(properties.battery_state);
  if (batteryStatus !== null) details.battery_status = batteryStatus;
  const movement = readMovement(properties.motion);
  if (movement !== null) details.type = movement;
  if (context.os !== null) details.os = context.os;
  return details;
}
