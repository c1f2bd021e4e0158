import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import type { PointDetails, PointSink } from "./point.ts";
import { contextOf, type MessageContext } from "./reading/context.ts";
import { knownDetails } from "./reading/details.ts";
import { readFlat } from "./reading/flat.ts";
import { type Found, NO_POSITION } from "./reading/found.ts";
import { isMembers, type Members } from "./reading/members.ts";
import { readName } from "./reading/names.ts";
import { readSpeed } from "./reading/speed.ts";
import { readBatteryStatus } from "./reading/states.ts";
import { readTimeMs } from "./reading/time.ts";
import { readMagnitude, readNumber, readText } from "./reading/values.ts";

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
  speaks: (value) => isMembers(value) && value._type === "location" && value.topic === undefined,
  read: readColota,
  success: { contentType: null, body: "" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

/** What its OwnTracks template calls every phone. */
const TEMPLATE_TID = "AA";

function* readColota(message: ClientMessage, sink: PointSink): Steps<void> {
  const context = contextOf(message, "mps");
  yield* readFlat(message, sink, (members) => findPoint(members, context));
}

function findPoint(told: Members, context: MessageContext): Found {
  const latitude = told.lat ?? told.latitude;
  const longitude = told.lon ?? told.longitude;
  if ((latitude ?? longitude ?? null) === null) return NO_POSITION;
  const tid = told.tid === TEMPLATE_TID ? null : readText(told.tid);
  return {
    device: readName(told.device_id) ?? readName(told.id) ?? tid,
    user: context.user,
    timestampMs: readTimeMs(told.tst ?? told.timestamp),
    latitude: readNumber(latitude),
    longitude: readNumber(longitude),
    details: readDetails(told, context),
  };
}

function readDetails(told: Members, context: MessageContext): PointDetails {
  return knownDetails({
    horizontal_accuracy: readMagnitude(told.acc ?? told.accuracy),
    altitude: readNumber(told.alt ?? told.altitude),
    speed: readSpeed(told.vel ?? told.speed, context.speedUnit),
    bearing: readMagnitude(told.bear ?? told.cog ?? told.bearing),
    battery_level: readMagnitude(told.batt ?? told.bat ?? told.battery),
    battery_status: readBatteryStatus(told.bs ?? told.charge),
    os: context.os,
  });
}
