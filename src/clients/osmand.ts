import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import type { PointDetails, PointSink } from "./point.ts";
import { contextOf, type MessageContext } from "./reading/context.ts";
import { knownDetails } from "./reading/details.ts";
import { readFlat } from "./reading/flat.ts";
import { type Found, NO_POSITION } from "./reading/found.ts";
import { isMembers, type Members } from "./reading/members.ts";
import { readSpeed } from "./reading/speed.ts";
import { readBatteryStatus } from "./reading/states.ts";
import { readTimeMs } from "./reading/time.ts";
import { readMagnitude, readNumber, readPositive, readText } from "./reading/values.ts";
import { findInLocation, hasCoords } from "./traccar/location.ts";

/** OsmAnd's online tracking, Colota in its Traccar mode, and scripts: Traccar's names, but all speeds are in m/s. */
export const osmand: Client = {
  name: "osmand",
  methods: ["GET", "POST"],
  takesQuery: true,
  recognizes: () => false,
  speaks: hasCoords,
  read: readOsmand,
  success: { contentType: null, body: "" },
  failure: plainFailure,
  // Old versions in a loop without a pause, until the point is older than its user wants to have it sent; newer ones
  // with the next fix.
  retriesAtOnce: true,
  mustNameDevice: false,
};

function* readOsmand(message: ClientMessage, sink: PointSink): Steps<void> {
  const context = contextOf(message, "mps");
  yield* readFlat(message, sink, (members) =>
    isMembers(members.location) ? findInLocation(members, context) : findPoint(members, context),
  );
}

function findPoint(told: Members, context: MessageContext): Found {
  if ((told.lat ?? told.lon ?? null) === null) return NO_POSITION;
  return {
    device: readText(told.id) ?? readText(told.deviceid),
    user: context.user,
    timestampMs: readTimeMs(told.timestamp),
    latitude: readNumber(told.lat),
    longitude: readNumber(told.lon),
    details: readDetails(told, context),
  };
}

function readDetails(told: Members, { os, speedUnit }: MessageContext): PointDetails {
  const speed = readSpeed(told.speed, speedUnit);
  const bearing = readMagnitude(told.bearing);
  const altitude = readNumber(told.altitude);
  return knownDetails({
    // OsmAnd calls its accuracy in meters `hdop`. What it doesn't know is 0.
    horizontal_accuracy: readPositive(told.accuracy ?? told.hdop),
    altitude: altitude === 0 ? null : altitude,
    speed,
    // Both 0 is what it writes where it knows neither; who stands still heads nowhere.
    bearing: bearing === 0 && speed === 0 ? null : bearing,
    // `batproc` is what its own server calls it.
    battery_level: readMagnitude(told.batt ?? told.batproc),
    battery_status: readBatteryStatus(told.charge),
    os,
  });
}
