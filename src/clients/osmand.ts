import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import { claimOf } from "./identity.ts";
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
  isPresent,
  type JsonObject,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readPositiveOrNaN,
} from "./reading/values.ts";
import { findInLocation, hasCoords } from "./traccar/location.ts";

/** OsmAnd's online tracking, Colota in Traccar mode, and scripts: Traccar's names, but all speeds in m/s. */
export const osmand: Client = {
  name: "osmand",
  methods: ["GET", "POST"],
  takesQuery: true,
  recognizes: () => false,
  speaks: hasCoords,
  read: readOsmand,
  success: { contentType: null, body: "" },
  failure: plainFailure,
  // Old versions repeat without a pause until the point is older than the user's limit; newer ones with the next fix.
  retriesAtOnce: true,
  mustNameDevice: false,
};

function* readOsmand(message: ClientMessage, sink: MessageSink): Steps<void> {
  const context = contextOf(message, "mps");
  yield* readFlat(message, sink, (members) =>
    isJsonObject(members.location) ? findInLocation(members, context) : findPoint(members, context),
  );
}

function findPoint(fields: JsonObject, context: MessageContext): PointResult {
  const claim = claimOf(context.user, fields.id, fields.deviceid);
  if (!isPresent(fields.lat) && !isPresent(fields.lon)) return noPosition(claim);
  return {
    ...claim,
    timestampMs: readTime(fields),
    latitude: readNumberOrNaN(fields.lat),
    longitude: readNumberOrNaN(fields.lon),
    ...readDetails(fields, context),
  };
}

function readDetails(fields: JsonObject, { os, speedUnit }: MessageContext) {
  const speed = readSpeedOrNaN(firstPresent(fields.speed, fields.vel, fields.spd), speedUnit);
  const bearing = readMagnitudeOrNaN(firstPresent(fields.bearing, fields.heading, fields.bear, fields.cog));
  const altitude = readNumberOrNaN(firstPresent(fields.altitude, fields.alt));
  const battery = firstPresent(fields.charge, fields.bs);
  const battery_status = readBatteryStatus(battery);
  return {
    ...unreadableOf({ battery_status: [battery, battery_status] }),
    details: knownDetails({
      // OsmAnd calls its accuracy in meters `hdop`, and writes 0 if it is unknown.
      horizontal_accuracy: readPositiveOrNaN(
        firstPresent(fields.accuracy, fields.hacc, fields.acc, fields.hdop),
      ),
      altitude: altitude === 0 ? null : altitude,
      speed,
      // OsmAnd writes 0 for both if they are unknown. A device at rest has no heading in any case.
      bearing: bearing === 0 && speed === 0 ? null : bearing,
      // OsmAnd's own server calls it `batproc`.
      battery_level: readMagnitudeOrNaN(firstPresent(fields.batt, fields.batproc, fields.bat)),
      battery_status,
      os,
    }),
  };
}
