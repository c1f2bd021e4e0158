import type { Steps } from "../../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "../client.ts";
import { claimOf } from "../identity.ts";
import { knownDetails, type MessageSink, type PointDetails } from "../point.ts";
import {
  contextOf,
  type MessageContext,
  NO_FIX,
  type PointResult,
  readFlat,
  UNKNOWN_SHAPE,
} from "../reading/read-message.ts";
import { readSpeedOrNaN, type SpeedUnit } from "../reading/speed.ts";
import { readBatteryStatus, readIsMoving, unreadableOf } from "../reading/states.ts";
import { readTimeMsOrNaN } from "../reading/time.ts";
import {
  isJsonObject,
  isPresent,
  type JsonObject,
  objectOrEmpty,
  readBoolean,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readPositiveOrNaN,
} from "../reading/values.ts";

/** A Traccar server that forwards its positions as JSON: `{"position": {…}, "device": {…}}`. */
export const traccarForward: Client = {
  name: "traccar-forward",
  methods: ["POST"],
  takesQuery: false,
  recognizes: isForwarded,
  speaks: isForwarded,
  read: readForwarded,
  success: { contentType: null, body: "" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: true,
};

function isForwarded(value: unknown): boolean {
  return isJsonObject(value) && isJsonObject(value.position) && value.position.fixTime !== undefined;
}

function* readForwarded(message: ClientMessage, sink: MessageSink): Steps<void> {
  const context = contextOf(message, "kn");
  yield* readFlat(message, sink, (members) => findPoint(members, context));
}

function findPoint(body: JsonObject, context: MessageContext): PointResult {
  const { position } = body;
  if (!isJsonObject(position)) return UNKNOWN_SHAPE;
  const claim = claimOf(context.user, objectOrEmpty(body.device).uniqueId);
  const isValid = readBoolean(position.valid);
  const latitude = readNumberOrNaN(position.latitude);
  const longitude = readNumberOrNaN(position.longitude);
  // The server forwards the last position if a device has no fix, and 0 if it has no position.
  if (isValid === false || (latitude === 0 && longitude === 0)) return NO_FIX;
  // Whether that is a fix is unknown.
  if (isValid === null && isPresent(position.valid)) return { refused: "bad_coordinates", from: claim };
  return {
    ...claim,
    timestampMs: readTimeMsOrNaN(position.fixTime),
    latitude,
    longitude,
    ...readDetails(position, context),
  };
}

function readDetails(position: JsonObject, { speedUnit, os }: MessageContext) {
  const details = readPositionDetails(position, speedUnit);
  if (os !== null) details.os = os;
  const { charge, motion } = objectOrEmpty(position.attributes);
  const { battery_status, type } = details;
  return { ...unreadableOf({ battery_status: [charge, battery_status], type: [motion, type] }), details };
}

/** Details of a Traccar server's position, whether the server forwards it or answers a query with it. */
export function readPositionDetails(position: JsonObject, speedUnit: SpeedUnit): PointDetails {
  const attributes = objectOrEmpty(position.attributes);
  return knownDetails({
    horizontal_accuracy: readPositiveOrNaN(position.accuracy),
    altitude: readNumberOrNaN(position.altitude),
    speed: readSpeedOrNaN(position.speed, speedUnit),
    bearing: readMagnitudeOrNaN(position.course),
    battery_level: readMagnitudeOrNaN(attributes.batteryLevel),
    battery_status: readBatteryStatus(attributes.charge),
    type: readIsMoving(attributes.motion),
  });
}
