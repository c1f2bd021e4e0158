import { claimOf } from "./identity.ts";
import { knownDetails } from "./point.ts";
import { type MessageContext, noPosition, type PointResult } from "./reading/read-message.ts";
import { readTime } from "./reading/time.ts";
import {
  isJsonObject,
  isPresent,
  type JsonObject,
  readMagnitudeOrNaN,
  readNumberOrNaN,
  readText,
} from "./reading/values.ts";

/*
 * Overland's "OwnTracks" logging mode: one object in OwnTracks' format, whose time counts from 2001 as Apple's clocks
 * do. The app still expects Overland's answer.
 */

const APPLE_EPOCH_MS = Date.UTC(2001, 0, 1);

/**
 * For any path. A message of OwnTracks itself has a `tid` and a topic with a user before the device; the topic of
 * Overland ends in the device id that its user typed.
 */
export function isOwnTracksMode(value: unknown): value is JsonObject {
  return isLikeOwnTracksMode(value) && namesOf(value).length === 1;
}

/** For Overland's own path, where the device id may be `anna/phone`, or empty. */
export function isLikeOwnTracksMode(value: unknown): value is JsonObject {
  if (!isJsonObject(value) || value._type !== "location") return false;
  return value.tid === undefined && value._id === undefined;
}

export function findInOwnTracksMode(
  members: JsonObject,
  { arrivedMs, os, user }: MessageContext,
): PointResult {
  const [first = null, second = null] = namesOf(members);
  const claim = claimOf(second === null ? user : readText(first), second ?? first);
  if (!isPresent(members.lat) && !isPresent(members.lon)) return noPosition(claim);
  return {
    ...claim,
    timestampMs: nearerToArrival(readTime(members), arrivedMs),
    latitude: readNumberOrNaN(members.lat),
    longitude: readNumberOrNaN(members.lon),
    details: knownDetails({
      horizontal_accuracy: readMagnitudeOrNaN(members.acc),
      battery_level: readMagnitudeOrNaN(members.batt),
      os,
    }),
  };
}

/** The parts of the topic after `owntracks`: a device, or a user and a device. */
function namesOf({ topic }: JsonObject): readonly string[] {
  return typeof topic === "string" ? topic.split("/", 3).slice(1) : [];
}

/** The time as sent, or counted from 2001, whichever is closer to the arrival. */
function nearerToArrival(sentMs: number | null, arrivedMs: number): number | null {
  if (sentMs === null || !Number.isFinite(sentMs)) return sentMs;
  const appleMs = sentMs + APPLE_EPOCH_MS;
  return Math.abs(appleMs - arrivedMs) < Math.abs(sentMs - arrivedMs) ? appleMs : sentMs;
}
