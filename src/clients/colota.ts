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
 * Colota, in its own words and those of its templates for other servers: OwnTracks, Dawarich, GeoPulse, Reitti,
 * PhoneTrack, Traccar's parameters. Names differ from one to the next; speeds are in m/s in all of them.
 */
export const colota: Client = {
  name: "colota",
  methods: ["POST", "GET"],
  takesQuery: true,
  recognizes: () => false,
  // Three templates write a type. OwnTracks itself writes its topic too.
  speaks: (value) => isJsonObject(value) && value._type === "location" && value.topic === undefined,
  read: readColota,
  success: { contentType: null, body: "" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

/** What its OwnTracks template calls every phone. */
const TEMPLATE_TID = "AA";

function* readColota(message: ClientMessage, sink: MessageSink): Steps<void> {
  const context = contextOf(message, "mps");
  yield* readFlat(message, sink, (members) => findPoint(members, context));
}

function findPoint(told: JsonObject, context: MessageContext): PointResult {
  const latitude = firstPresent(told.lat, told.latitude);
  const longitude = firstPresent(told.lon, told.longitude);
  const claim = claimOf(context.user, ...[told.device_id, told.id].filter(isNotDefaultName), tidOf(told));
  if (latitude === null && longitude === null) return noPosition(claim);
  const battery = firstPresent(told.bs, told.charge, told.ischarging, told.is_charging);
  const battery_status = readBatteryStatus(battery);
  return {
    ...claim,
    timestampMs: readTime(told),
    latitude: readNumberOrNaN(latitude),
    longitude: readNumberOrNaN(longitude),
    ...unreadableOf({ battery_status: [battery, battery_status] }),
    details: knownDetails({
      horizontal_accuracy: readMagnitudeOrNaN(firstPresent(told.acc, told.accuracy, told.hacc)),
      altitude: readNumberOrNaN(firstPresent(told.alt, told.altitude)),
      speed: readSpeedOrNaN(firstPresent(told.vel, told.speed, told.spd), context.speedUnit),
      bearing: readMagnitudeOrNaN(firstPresent(told.bear, told.cog, told.bearing, told.heading)),
      battery_level: readMagnitudeOrNaN(firstPresent(told.batt, told.bat, told.battery)),
      battery_status,
      os: context.os,
    }),
  };
}

function tidOf({ tid }: JsonObject): unknown {
  return tid === TEMPLATE_TID ? null : tid;
}
