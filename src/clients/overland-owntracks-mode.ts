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
 * Overland's "OwnTracks" logging mode: one object in OwnTracks' words, with a time that counts from 2001 as Apple's
 * clocks do. The app still waits for Overland's answer.
 */

const APPLE_EPOCH_MS = Date.UTC(2001, 0, 1);

/**
 * On any path. OwnTracks itself has a `tid`, and its topic a user before the device; Overland's has what was typed as
 * its device id.
 */
export function isOwnTracksMode(value: unknown): value is JsonObject {
  return isLikeOwnTracksMode(value) && namesOf(value).length === 1;
}

/** On Overland's own path, where somebody may have typed `anna/phone` as device id, or nothing. */
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

/** What follows `owntracks` in the topic: a device, or a user and a device. */
function namesOf({ topic }: JsonObject): readonly string[] {
  return typeof topic === "string" ? topic.split("/", 3).slice(1) : [];
}

/** The time as it was sent, or counted from 2001: whichever lies closer to when the message came. */
function nearerToArrival(sentMs: number | null, arrivedMs: number): number | null {
  if (sentMs === null || !Number.isFinite(sentMs)) return sentMs;
  const appleMs = sentMs + APPLE_EPOCH_MS;
  return Math.abs(appleMs - arrivedMs) < Math.abs(sentMs - arrivedMs) ? appleMs : sentMs;
}
