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
import { readSpeedOrNaN, type SpeedUnit } from "./reading/speed.ts";
import { readBatteryStatus, unreadableOf } from "./reading/states.ts";
import { findTime, readTimeMsOrNaN } from "./reading/time.ts";
import {
  firstPresent,
  isJsonObject,
  isPresent,
  type JsonObject,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readPositiveOrNaN,
} from "./reading/values.ts";

/**
 * GPSLogger's custom URL: all parameters that the app has, or a body written by its user, mostly in OwnTracks' terms.
 */
export const gpslogger: Client = {
  name: "gpslogger",
  methods: ["GET", "POST"],
  takesQuery: true,
  recognizes: () => false,
  // A user's template. OwnTracks itself also writes its topic.
  speaks: (value) => isJsonObject(value) && value._type === "location" && value.topic === undefined,
  read: readGpslogger,
  success: { contentType: null, body: "" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

interface GpsloggerContext extends MessageContext {
  readonly kphUnit: SpeedUnit;
  readonly headerDevice: string | null;
}

function* readGpslogger(message: ClientMessage, sink: MessageSink): Steps<void> {
  const context: GpsloggerContext = {
    ...contextOf(message, "mps"),
    kphUnit: message.speedUnit ?? "kmh",
    headerDevice: message.headers["x-limit-d"] ?? null,
  };
  yield* readFlat(message, sink, (members) => findPoint(members, context));
}

function findPoint(fields: JsonObject, context: GpsloggerContext): PointResult {
  const serial = fields.ser === "unknown" ? null : fields.ser;
  const claim = claimOf(context.user, fields.aid, serial, context.headerDevice);
  if (!isPresent(fields.lat) && !isPresent(fields.lon)) return noPosition(claim);
  return {
    ...claim,
    timestampMs: readTimeMsOrNaN(withoutEscapes(findTime(fields))),
    latitude: readNumberOrNaN(fields.lat),
    longitude: readNumberOrNaN(fields.lon),
    ...readDetails(fields, context),
  };
}

/** The app percent-encodes values in a body as in a URL. */
function withoutEscapes(time: unknown): unknown {
  return typeof time === "string" ? time.replace(/%2B/gi, "+").replace(/%3A/gi, ":") : time;
}

/** The app writes 0 for every unknown value. */
function readDetails(fields: JsonObject, context: GpsloggerContext) {
  const altitude = readNumberOrNaN(firstPresent(fields.alt, fields.altitude));
  const accuracy = readPositiveOrNaN(firstPresent(fields.acc, fields.accuracy));
  const bearing = readMagnitudeOrNaN(firstPresent(fields.dir, fields.bearing, fields.cog));
  const speed =
    readSpeedOrNaN(firstPresent(fields.spd, fields.vel, fields.speed), context.speedUnit) ??
    readSpeedOrNaN(fields.spd_kph, context.kphUnit);
  const battery = firstPresent(fields.ischarging, fields.is_charging, fields.bs, fields.charge);
  const battery_status = readBatteryStatus(battery);
  const isStanding = accuracy !== null || (bearing !== null && bearing > 0);
  return {
    ...unreadableOf({ battery_status: [battery, battery_status] }),
    details: knownDetails({
      horizontal_accuracy: accuracy,
      altitude: altitude === 0 ? null : altitude,
      speed: speed === 0 && !isStanding ? null : speed,
      bearing: bearing === 0 && !(speed !== null && speed > 0) ? null : bearing,
      battery_level: readPositiveOrNaN(firstPresent(fields.batt, fields.bat, fields.battery)),
      battery_status,
      os: context.os,
    }),
  };
}
