import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import { listOf } from "./content.ts";
import type { PointSink } from "./point.ts";
import { contextOf, type MessageContext } from "./reading/context.ts";
import { knownDetails } from "./reading/details.ts";
import { readFlat } from "./reading/flat.ts";
import { type Found, HEARTBEAT, UNKNOWN_SHAPE } from "./reading/found.ts";
import { isMembers, type Members, membersOf } from "./reading/members.ts";
import { readSpeed } from "./reading/speed.ts";
import { readTimeMs } from "./reading/time.ts";
import { readMagnitude, readNumber, readPositive, readText } from "./reading/values.ts";

/** A `rest_command` of Home Assistant as its users copy it, and what its phone app posts to its webhook. */
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

/** What the phone app tells its server of anything but where it is: sensors, registrations, encrypted boxes. */
const OTHER_WEBHOOK: Found = { skipped: "webhook" };

function* readHomeassistant(message: ClientMessage, sink: PointSink): Steps<void> {
  const context = contextOf(message, "mps");
  yield* readFlat(message, sink, (members) => {
    if (isMembers(members.location)) return findInRestCommand(members, members.location, context);
    if (typeof members.type !== "string") return UNKNOWN_SHAPE;
    return members.type === "update_location"
      ? findInWebhook(membersOf(members.data), context)
      : OTHER_WEBHOOK;
  });
}

/** The recipe writes 0 where Home Assistant knows nothing. */
function findInRestCommand(body: Members, location: Members, { user, os, speedUnit }: MessageContext): Found {
  const altitude = readNumber(location.altitude);
  const speed = readSpeed(location.speed, speedUnit);
  return {
    device: readText(body.device_id),
    user,
    timestampMs: readTimeMs(body.timestamp),
    latitude: readNumber(location.latitude),
    longitude: readNumber(location.longitude),
    details: knownDetails({
      horizontal_accuracy: readPositive(location.accuracy),
      altitude: altitude === 0 ? null : altitude,
      speed: speed === 0 ? null : speed,
      battery_level: readPositive(membersOf(body.battery).level),
      os,
    }),
  };
}

/** Without a time: it is sent at once. Without a position where the user shares the name of a zone alone. */
function findInWebhook(data: Members, { arrivedMs, user, os, speedUnit }: MessageContext): Found {
  const gps = listOf(data.gps);
  if (gps === null) return (data.gps ?? null) === null ? HEARTBEAT : UNKNOWN_SHAPE;
  const [latitude, longitude] = gps;
  return {
    device: null,
    user,
    timestampMs: arrivedMs,
    latitude: readNumber(latitude),
    longitude: readNumber(longitude),
    details: knownDetails({
      horizontal_accuracy: readPositive(data.gps_accuracy),
      vertical_accuracy: readPositive(data.vertical_accuracy),
      altitude: readNumber(data.altitude),
      speed: readSpeed(data.speed, speedUnit),
      bearing: readMagnitude(data.course),
      battery_level: readMagnitude(data.battery),
      os,
    }),
  };
}
