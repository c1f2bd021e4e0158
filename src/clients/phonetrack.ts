import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import { listOf } from "./content.ts";
import { knownDetails, type MessageSink } from "./point.ts";
import {
  contextOf,
  emit,
  type MessageContext,
  noPosition,
  type PointResult,
  readFlat,
  readList,
  UNKNOWN_SHAPE,
} from "./reading/read-message.ts";
import { readSpeedOrNaN } from "./reading/speed.ts";
import { readTime } from "./reading/time.ts";
import {
  firstPresent,
  isJsonObject,
  isPresent,
  type JsonObject,
  readMagnitudeOrNaN,
  readNumberOrNaN,
} from "./reading/values.ts";

/**
 * The format of the log routes of Nextcloud's PhoneTrack: parameters, or many points as rows. Its Android app deletes a
 * point if the answer is 200 with `"done":1`; otherwise it retries after the next fix or in five minutes. With its
 * custom URLs any 2xx counts.
 */
export const phonetrack: Client = {
  name: "phonetrack",
  methods: ["GET", "POST"],
  takesQuery: true,
  recognizes: () => false,
  speaks: () => false,
  read: readPhonetrack,
  success: { contentType: "application/json", body: '{"done":1,"friends":[]}' },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

function* readPhonetrack(message: ClientMessage, sink: MessageSink): Steps<void> {
  const { content } = message;
  const context = contextOf(message, "mps");
  const rows = content.kind === "json" && isJsonObject(content.value) ? listOf(content.value.points) : null;
  if (rows === null) yield* readFlat(message, sink, (members) => findPoint(members, context));
  else yield* readList(rows, sink, (row) => emit(findInRow(row, context), { points: [row] }, sink));
}

/** A row is a list without names. The columns for satellites and sender are ignored. */
function findInRow(row: unknown, context: MessageContext): PointResult {
  const columns = listOf(row);
  if (columns === null) return UNKNOWN_SHAPE;
  const [lat, lon, timestamp, alt, acc, bat, _satellites, _sender, speed, bearing] = columns;
  return findPoint({ lat, lon, timestamp, alt, acc, bat, speed, bearing }, context);
}

/** Accepts Locus Map's names too. */
function findPoint(fields: JsonObject, { user, os, speedUnit }: MessageContext): PointResult {
  const claim = { device: null, user };
  if (!isPresent(fields.lat) && !isPresent(fields.lon)) return noPosition(claim);
  return {
    ...claim,
    timestampMs: readTime(fields),
    latitude: readNumberOrNaN(fields.lat),
    longitude: readNumberOrNaN(fields.lon),
    details: knownDetails({
      horizontal_accuracy: readMagnitudeOrNaN(firstPresent(fields.acc, fields.accuracy)),
      altitude: readNumberOrNaN(firstPresent(fields.alt, fields.altitude)),
      speed: readSpeedOrNaN(firstPresent(fields.speed, fields.spd), speedUnit),
      bearing: readMagnitudeOrNaN(firstPresent(fields.bearing, fields.dir)),
      battery_level: readMagnitudeOrNaN(firstPresent(fields.bat, fields.batt, fields.battery)),
      os,
    }),
  };
}
