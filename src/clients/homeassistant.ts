import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import { listOf } from "./content.ts";
import { claimOf } from "./identity.ts";
import { knownDetails, type MessageSink } from "./point.ts";
import {
  contextOf,
  HEARTBEAT,
  type MessageContext,
  noPosition,
  type PointResult,
  readFlat,
  UNKNOWN_SHAPE,
} from "./reading/read-message.ts";
import { readSpeedOrNaN } from "./reading/speed.ts";
import { readTime, timeOrArrival } from "./reading/time.ts";
import {
  isJsonObject,
  isPresent,
  type JsonObject,
  objectOrEmpty,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readPositiveOrNaN,
} from "./reading/values.ts";

/** Home Assistant: the `rest_command` that users copy, and the webhook messages of its phone app. */
export const homeassistant: Client = {
  name: "homeassistant",
  methods: ["POST"],
  takesQuery: false,
  recognizes: () => false,
  speaks: () => false,
  read: readHomeassistant,
  success: { contentType: "application/json", body: "{}" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

/** A message of the phone app other than a position: sensors, registrations, encrypted boxes. */
const OTHER_WEBHOOK: PointResult = { skipped: "webhook" };

function* readHomeassistant(message: ClientMessage, sink: MessageSink): Steps<void> {
  const context = contextOf(message, "mps");
  yield* readFlat(message, sink, (members) => {
    if (isJsonObject(members.location)) return findInRestCommand(members, members.location, context);
    if (typeof members.type !== "string") return UNKNOWN_SHAPE;
    return members.type === "update_location"
      ? findInWebhook(members, objectOrEmpty(members.data), context)
      : OTHER_WEBHOOK;
  });
}

/** The recipe writes 0 for values that Home Assistant lacks, and templates write Home Assistant's words for that. */
function findInRestCommand(
  body: JsonObject,
  location: JsonObject,
  { user, os, speedUnit }: MessageContext,
): PointResult {
  const claim = claimOf(user, body.device_id);
  const [latitude, longitude] = [known(location.latitude), known(location.longitude)];
  // A tracker whose position Home Assistant knows only by its zone or router.
  if (!isPresent(latitude) && !isPresent(longitude)) return noPosition(claim);
  const altitude = readNumberOrNaN(known(location.altitude));
  const speed = readSpeedOrNaN(known(location.speed), speedUnit);
  return {
    ...claim,
    timestampMs: readTime(body),
    latitude: readNumberOrNaN(latitude),
    longitude: readNumberOrNaN(longitude),
    details: knownDetails({
      horizontal_accuracy: readPositiveOrNaN(known(location.accuracy)),
      altitude: altitude === 0 ? null : altitude,
      speed: speed === 0 ? null : speed,
      battery_level: readPositiveOrNaN(known(objectOrEmpty(body.battery).level)),
      os,
    }),
  };
}

/** A state or attribute of Home Assistant; null for its words for a missing one. */
function known(value: unknown): unknown {
  return value === "unknown" || value === "unavailable" || value === "None" ? null : value;
}

/**
 * A message mostly has no time, because the app sends it immediately, and no position if the user shares only zones.
 */
function findInWebhook(body: JsonObject, data: JsonObject, context: MessageContext): PointResult {
  const { user, os, speedUnit } = context;
  const gps = listOf(data.gps);
  if (gps === null) return isPresent(data.gps) ? UNKNOWN_SHAPE : HEARTBEAT;
  const [latitude, longitude] = gps;
  return {
    device: null,
    user,
    ...timeOrArrival(context, data, body),
    latitude: readNumberOrNaN(latitude),
    longitude: readNumberOrNaN(longitude),
    details: knownDetails({
      horizontal_accuracy: readPositiveOrNaN(data.gps_accuracy),
      vertical_accuracy: readPositiveOrNaN(data.vertical_accuracy),
      altitude: readNumberOrNaN(data.altitude),
      speed: readSpeedOrNaN(data.speed, speedUnit),
      bearing: readMagnitudeOrNaN(data.course),
      battery_level: readMagnitudeOrNaN(data.battery),
      os,
    }),
  };
}
