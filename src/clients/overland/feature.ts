import { listOf } from "../content.ts";
import type { ClientPoint, PointDetails } from "../point.ts";
import type { MessageContext } from "../reading/context.ts";
import { type Found, noPosition, UNKNOWN_SHAPE } from "../reading/found.ts";
import { isMembers } from "../reading/members.ts";
import { claimOf } from "../reading/names.ts";
import { readSpeedOrNaN } from "../reading/speed.ts";
import { readBatteryStatus, readMovement, unreadableOf } from "../reading/states.ts";
import { readTimeMsOrNaN } from "../reading/time.ts";
import { isTold, percentOf, readMagnitudeOrNaN, readNumberOrNaN } from "../reading/values.ts";

/** What all features of a batch share. */
export interface BatchContext extends MessageContext {
  /** Colota names the device once, beside the list. */
  readonly batchDevice: unknown;
}

const EVENT: Found = { skipped: "event" };
const TRIP: Found = { skipped: "trip" };

/** What a GeoJSON feature tells: a position, or one of the events that the app logs among them. */
export function findInFeature(feature: unknown, context: BatchContext): Found {
  if (!isMembers(feature) || !isMembers(feature.properties)) return UNKNOWN_SHAPE;
  const { geometry, properties } = feature;
  if (properties.action !== undefined) return EVENT;
  if (properties.type === "trip") return TRIP;
  const claim = claimOf(context.user, properties.device_id, properties.unique_id, context.batchDevice);
  const coordinates = isMembers(geometry) ? listOf(geometry.coordinates) : null;
  if (coordinates === null) return noPosition(claim);

  const [longitude, latitude] = coordinates;
  const details = readDetails(properties, context);
  return {
    ...claim,
    timestampMs: readTimeMsOrNaN(properties.timestamp),
    latitude: readNumberOrNaN(latitude),
    longitude: readNumberOrNaN(longitude),
    ...unreadableStates(properties, details),
    details,
  };
}

/** Most features say both, or neither. */
function unreadableStates(
  { battery_state, motion }: Readonly<Record<string, unknown>>,
  { battery_status, type }: PointDetails,
): Pick<ClientPoint, "unreadable"> {
  const isAllRead =
    (battery_status !== undefined || !isTold(battery_state)) && (type !== undefined || !isTold(motion));
  if (isAllRead) return {};
  return unreadableOf({ battery_status: [battery_state, battery_status], type: [motion, type] });
}

/** Member by member rather than from a table: batches of hundreds come this way. */
function readDetails(properties: Readonly<Record<string, unknown>>, context: BatchContext): PointDetails {
  const details: PointDetails = {};
  const accuracy = readMagnitudeOrNaN(properties.horizontal_accuracy);
  if (accuracy !== null) details.horizontal_accuracy = accuracy;

  // A negative vertical accuracy says that the altitude is none.
  const verticalAccuracy = readNumberOrNaN(properties.vertical_accuracy);
  const altitude = readNumberOrNaN(properties.altitude);
  if (verticalAccuracy !== null && !(verticalAccuracy < 0)) details.vertical_accuracy = verticalAccuracy;
  if (altitude !== null && !(verticalAccuracy !== null && verticalAccuracy < 0)) details.altitude = altitude;

  const speed = readSpeedOrNaN(properties.speed, context.speedUnit);
  if (speed !== null) details.speed = speed;
  const bearing = readMagnitudeOrNaN(properties.course);
  if (bearing !== null) details.bearing = bearing;

  const batteryLevel = readMagnitudeOrNaN(properties.battery_level);
  if (batteryLevel !== null) details.battery_level = percentOf(batteryLevel);
  const batteryStatus = readBatteryStatus(properties.battery_state);
  if (batteryStatus !== null) details.battery_status = batteryStatus;
  const movement = readMovement(properties.motion);
  if (movement !== null) details.type = movement;
  if (context.os !== null) details.os = context.os;
  return details;
}
