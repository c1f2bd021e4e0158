import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, jsonFailure } from "./client.ts";
import { listOf } from "./content.ts";
import { claimOf } from "./identity.ts";
import { findInOwnTracksMode, isLikeOwnTracksMode, isOwnTracksMode } from "./overland-owntracks-mode.ts";
import type { ClientPoint, MessageSink, PointDetails } from "./point.ts";
import {
  contextOf,
  emit,
  type MessageContext,
  noPosition,
  type PointResult,
  readList,
  UNKNOWN_SHAPE,
} from "./reading/read-message.ts";
import { readSpeedOrNaN } from "./reading/speed.ts";
import { readBatteryStatus, readMovement, unreadableOf } from "./reading/states.ts";
import { readTimeMsOrNaN } from "./reading/time.ts";
import {
  isJsonObject,
  isPresent,
  type JsonObject,
  percentOf,
  readMagnitudeOrNaN,
  readNumberOrNaN,
} from "./reading/values.ts";

/** Overland for iOS, and apps that send its batches: `{"locations":[Feature…], "current"?, "device_id"?}`. */
export const overland: Client = {
  name: "overland",
  methods: ["POST"],
  takesQuery: false,
  recognizes: (value) => isBatch(value) || isOwnTracksMode(value),
  speaks: (value) => isBatch(value) || isLikeOwnTracksMode(value),
  read: readOverland,
  // The app deletes a batch only on this answer.
  success: { contentType: "application/json", body: '{"result":"ok"}' },
  failure: jsonFailure,
  // The app shows the name. It must differ from success, because a redirected POST becomes a GET.
  greeting: (keyLabel) => ({ contentType: "application/json", body: JSON.stringify({ name: keyLabel }) }),
  retriesAtOnce: false,
  mustNameDevice: false,
};

function isBatch(value: unknown): value is JsonObject {
  return isJsonObject(value) && listOf(value.locations) !== null;
}

function* readOverland(message: ClientMessage, sink: MessageSink): Steps<void> {
  const { content } = message;
  if (content.kind === "empty") return sink.skip("empty message");
  if (content.kind === "unreadable") return sink.refuse("bad_json");
  const value = content.kind === "json" ? content.value : null;
  if (isBatch(value)) yield* readBatch(value, message, sink);
  else if (isLikeOwnTracksMode(value))
    emit(findInOwnTracksMode(value, contextOf(message, "mps")), undefined, sink);
  else sink.refuse("unknown_shape");
}

function* readBatch(batch: JsonObject, message: ClientMessage, sink: MessageSink): Steps<void> {
  const context = { ...contextOf(message, "mps"), batchDevice: batch.device_id ?? null };
  const read = (feature: unknown) => emit(findInFeature(feature, context), batchOf(feature, context), sink);
  yield* readList(listOf(batch.locations) ?? [], sink, read);
  // The newest position of a phone whose batches are far behind; it is not in the list yet.
  if (isJsonObject(batch.current)) read(batch.current);
}

/** A message with only this feature. */
function batchOf(feature: unknown, { batchDevice }: BatchContext): unknown {
  return batchDevice === null ? { locations: [feature] } : { locations: [feature], device_id: batchDevice };
}

/** Values that all features of a batch share. */
interface BatchContext extends MessageContext {
  /** Colota sends the device once, beside the list. */
  readonly batchDevice: unknown;
}

const EVENT: PointResult = { skipped: "event" };
const TRIP: PointResult = { skipped: "trip" };

/** Reads a GeoJSON feature: a position, or one of the events that the app logs between positions. */
function findInFeature(feature: unknown, context: BatchContext): PointResult {
  if (!isJsonObject(feature) || !isJsonObject(feature.properties)) return UNKNOWN_SHAPE;
  const { geometry, properties } = feature;
  if (properties.action !== undefined) return EVENT;
  if (properties.type === "trip") return TRIP;
  const claim = claimOf(context.user, properties.device_id, properties.unique_id, context.batchDevice);
  const coordinates = isJsonObject(geometry) ? listOf(geometry.coordinates) : null;
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

/** A quick check first: most features have both states, or neither. */
function unreadableStates(
  { battery_state, motion }: Readonly<Record<string, unknown>>,
  { battery_status, type }: PointDetails,
): Pick<ClientPoint, "unreadable"> {
  const isAllRead =
    (battery_status !== undefined || !isPresent(battery_state)) && (type !== undefined || !isPresent(motion));
  if (isAllRead) return {};
  return unreadableOf({ battery_status: [battery_state, battery_status], type: [motion, type] });
}

/** Written out instead of a table for speed: batches have hundreds of features. */
function readDetails(properties: Readonly<Record<string, unknown>>, context: BatchContext): PointDetails {
  const details: PointDetails = {};
  const accuracy = readMagnitudeOrNaN(properties.horizontal_accuracy);
  if (accuracy !== null) details.horizontal_accuracy = accuracy;

  // A negative vertical accuracy means that the altitude is invalid.
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
