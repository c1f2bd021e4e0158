import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import { claimOf, isNotDefaultName } from "./identity.ts";
import { knownDetails, type MessageSink } from "./point.ts";
import {
  contextOf,
  type MessageContext,
  noPosition,
  type PointResult,
  readFlat,
} from "./reading/read-message.ts";
import { readSpeedOrNaN } from "./reading/speed.ts";
import { readBatteryStatus, unreadableOf } from "./reading/states.ts";
import { readTime } from "./reading/time.ts";
import {
  firstPresent,
  isJsonObject,
  type JsonObject,
  readMagnitudeOrNaN,
  readNumberOrNaN,
} from "./reading/values.ts";

/**
 * Colota, in its own format and those of its templates for other servers: OwnTracks, Dawarich, GeoPulse, Reitti,
 * PhoneTrack, Traccar's parameters. Their field names differ; speeds are in m/s in all of them.
 */
export const colota: Client = {
  name: "colota",
  methods: ["POST", "GET"],
  takesQuery: true,
  recognizes: () => false,
  // Three templates write `_type`. OwnTracks itself also writes its topic.
  speaks: (value) => isJsonObject(value) && value._type === "location" && value.topic === undefined,
  read: readColota,
  success: { contentType: null, body: "" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

/** The name that the OwnTracks template gives every phone. */
const TEMPLATE_TID = "AA";

function* readColota(message: ClientMessage, sink: MessageSink): Steps<void> {
  const context = contextOf(message, "mps");
  yield* readFlat(message, sink, (members) => findPoint(members, context));
}

function findPoint(fields: JsonObject, context: MessageContext): PointResult {
  const latitude = firstPresent(fields.lat, fields.latitude);
  const longitude = firstPresent(fields.lon, fields.longitude);
  const claim = claimOf(
    context.user,
    ...[fields.device_id, fields.id].filter(isNotDefaultName),
    tidOf(fields),
  );
  if (latitude === null && longitude === null) return noPosition(claim);
  const battery = firstPresent(fields.bs, fields.charge, fields.ischarging, fields.is_charging);
  const battery_status = readBatteryStatus(battery);
  return {
    ...claim,
    timestampMs: readTime(fields),
    latitude: readNumberOrNaN(latitude),
    longitude: readNumberOrNaN(longitude),
    ...unreadableOf({ battery_status: [battery, battery_status] }),
    details: knownDetails({
      horizontal_accuracy: readMagnitudeOrNaN(firstPresent(fields.acc, fields.accuracy, fields.hacc)),
      altitude: readNumberOrNaN(firstPresent(fields.alt, fields.altitude)),
      speed: readSpeedOrNaN(firstPresent(fields.vel, fields.speed, fields.spd), context.speedUnit),
      bearing: readMagnitudeOrNaN(firstPresent(fields.bear, fields.cog, fields.bearing, fields.heading)),
      battery_level: readMagnitudeOrNaN(firstPresent(fields.batt, fields.bat, fields.battery)),
      battery_status,
      os: context.os,
    }),
  };
}

function tidOf({ tid }: JsonObject): unknown {
  return tid === TEMPLATE_TID ? null : tid;
}
