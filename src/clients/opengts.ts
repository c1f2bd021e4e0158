import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import { instantOf, parseSentence, readMinimum } from "./nmea-sentence.ts";
import { knownDetails, type MessageSink } from "./point.ts";
import {
  contextOf,
  type MessageContext,
  NO_FIX,
  noPosition,
  type PointResult,
  readFlat,
} from "./reading/read-message.ts";
import { metersPerSecond } from "./reading/speed.ts";
import { type JsonObject, readNumberOrNaN, readPositiveOrNaN, readText } from "./reading/values.ts";

/** GPSLogger and trackers in OpenGTS mode: the position is an NMEA sentence in the URL. */
export const opengts: Client = {
  name: "opengts",
  methods: ["GET"],
  takesQuery: true,
  recognizes: () => false,
  speaks: () => false,
  read: readOpengts,
  success: { contentType: null, body: "" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

function* readOpengts(message: ClientMessage, sink: MessageSink): Steps<void> {
  const context = contextOf(message, "kn");
  yield* readFlat(message, sink, (members) => findPoint(members, context));
}

function findPoint(fields: JsonObject, context: MessageContext): PointResult {
  const sentence = readText(fields.gprmc);
  const device = readText(fields.dev) ?? readText(fields.id);
  const account = readText(fields.acct);
  // GPSLogger sends the device twice if its user typed no account.
  const claim = { device, user: account === device ? context.user : account };
  if (sentence === null) return noPosition(claim);
  const parsed = parseSentence(sentence.trim());
  if (parsed === null || "fault" in parsed || parsed.kind !== "RMC")
    return { refused: "unknown_shape", from: claim };
  const fix = readMinimum(parsed.fields);
  if (!fix.hasFix) return NO_FIX;
  const altitude = readNumberOrNaN(fields.alt);
  return {
    ...claim,
    timestampMs: instantOf(fix.dayMs, fix.timeMs),
    latitude: fix.latitude,
    longitude: fix.longitude,
    details: knownDetails({
      altitude: altitude === 0 ? null : altitude,
      speed: fix.speed === null ? null : metersPerSecond(fix.speed, context.speedUnit),
      bearing: fix.bearing,
      battery_level: readPositiveOrNaN(fields.batt),
      os: context.os,
    }),
  };
}
