import type { Steps } from "../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "./client.ts";
import { listOf } from "./content.ts";
import { knownDetails, type PointSink } from "./point.ts";
import {
  contextOf,
  type Found,
  handOver,
  type MessageContext,
  noPosition,
  readFlat,
  readList,
  UNKNOWN_SHAPE,
} from "./reading/read-message.ts";
import { readSpeedOrNaN } from "./reading/speed.ts";
import { readTime } from "./reading/time.ts";
import {
  firstTold,
  isMembers,
  isTold,
  type Members,
  readMagnitudeOrNaN,
  readNumberOrNaN,
} from "./reading/values.ts";

/**
 * What Nextcloud's PhoneTrack takes at its log routes: parameters, or many points at once as rows. Its Android app
 * deletes a point where the answer is 200 with `"done":1`, and tries anything else again, after the next fix or in five
 * minutes; on its custom URLs any 2xx will do.
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

function* readPhonetrack(message: ClientMessage, sink: PointSink): Steps<void> {
  const { content } = message;
  const context = contextOf(message, "mps");
  const rows = content.kind === "json" && isMembers(content.value) ? listOf(content.value.points) : null;
  if (rows === null) yield* readFlat(message, sink, (members) => findPoint(members, context));
  else yield* readList(rows, sink, (row) => handOver(findInRow(row, context), { points: [row] }, sink));
}

/** A row has no names; of its columns the number of satellites and what sent it are nothing to us. */
function findInRow(row: unknown, context: MessageContext): Found {
  const columns = listOf(row);
  if (columns === null) return UNKNOWN_SHAPE;
  const [lat, lon, timestamp, alt, acc, bat, _satellites, _sender, speed, bearing] = columns;
  return findPoint({ lat, lon, timestamp, alt, acc, bat, speed, bearing }, context);
}

/** Locus Map has names of its own for two. */
function findPoint(told: Members, { user, os, speedUnit }: MessageContext): Found {
  const claim = { device: null, user };
  if (!isTold(told.lat) && !isTold(told.lon)) return noPosition(claim);
  return {
    ...claim,
    timestampMs: readTime(told),
    latitude: readNumberOrNaN(told.lat),
    longitude: readNumberOrNaN(told.lon),
    details: knownDetails({
      horizontal_accuracy: readMagnitudeOrNaN(firstTold(told.acc, told.accuracy)),
      altitude: readNumberOrNaN(firstTold(told.alt, told.altitude)),
      speed: readSpeedOrNaN(firstTold(told.speed, told.spd), speedUnit),
      bearing: readMagnitudeOrNaN(firstTold(told.bearing, told.dir)),
      battery_level: readMagnitudeOrNaN(firstTold(told.bat, told.batt, told.battery)),
      os,
    }),
  };
}
