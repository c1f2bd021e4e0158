import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import type { PointDetails, PointSink } from "./point.ts";
import { contextOf, type MessageContext } from "./reading/context.ts";
import { knownDetails } from "./reading/details.ts";
import { readFlat } from "./reading/flat.ts";
import { type Found, NO_POSITION } from "./reading/found.ts";
import { isMembers, type Members } from "./reading/members.ts";
import { readSpeed, type SpeedUnit } from "./reading/speed.ts";
import { readBatteryStatus } from "./reading/states.ts";
import { readTimeMs } from "./reading/time.ts";
import { readMagnitude, readNumber, readPositive, readText } from "./reading/values.ts";

/** GPSLogger's custom URL: every parameter there is, or a body that its user wrote, mostly after OwnTracks' words. */
export const gpslogger: Client = {
  name: "gpslogger",
  methods: ["GET", "POST"],
  takesQuery: true,
  recognizes: () => false,
  // A template of the user's. OwnTracks itself writes its topic into what it sends.
  speaks: (value) => isMembers(value) && value._type === "location" && value.topic === undefined,
  read: readGpslogger,
  success: { contentType: null, body: "" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

interface GpsloggerContext extends MessageContext {
  /** Of `spd_kph`. */
  readonly kphUnit: SpeedUnit;
  readonly headerDevice: string | null;
}

function* readGpslogger(message: ClientMessage, sink: PointSink): Steps<void> {
  const context: GpsloggerContext = {
    ...contextOf(message, "mps"),
    kphUnit: message.speedUnit ?? "kmh",
    headerDevice: message.headers["x-limit-d"] ?? null,
  };
  yield* readFlat(message, sink, (members) => findPoint(members, context));
}

function findPoint(told: Members, context: GpsloggerContext): Found {
  if ((told.lat ?? told.lon ?? null) === null) return NO_POSITION;
  const serial = told.ser === "unknown" ? null : readText(told.ser);
  return {
    device: readText(told.aid) ?? serial ?? context.headerDevice,
    user: context.user,
    timestampMs: readTimeMs(withoutEscapes(told.timestamp ?? told.tst ?? told.time ?? told.timeoffset)),
    latitude: readNumber(told.lat),
    longitude: readNumber(told.lon),
    details: readDetails(told, context),
  };
}

/** The app writes values into a body as it does into a URL. */
function withoutEscapes(time: unknown): unknown {
  return typeof time === "string" ? time.replace(/%2B/gi, "+").replace(/%3A/gi, ":") : time;
}

/** The app writes 0 for whatever it doesn't know. */
function readDetails(told: Members, context: GpsloggerContext): PointDetails {
  const altitude = readNumber(told.alt);
  const accuracy = readPositive(told.acc);
  const bearing = readMagnitude(told.dir ?? told.bearing ?? told.cog);
  const speed =
    readSpeed(told.spd ?? told.vel, context.speedUnit) ?? readSpeed(told.spd_kph, context.kphUnit);
  const isStanding = accuracy !== null || (bearing !== null && bearing > 0);
  return knownDetails({
    horizontal_accuracy: accuracy,
    altitude: altitude === 0 ? null : altitude,
    speed: speed === 0 && !isStanding ? null : speed,
    bearing: bearing === 0 && !(speed !== null && speed > 0) ? null : bearing,
    battery_level: readPositive(told.batt ?? told.bat),
    battery_status: readBatteryStatus(told.ischarging ?? told.bs),
    os: context.os,
  });
}
