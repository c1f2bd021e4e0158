import type { MessageContext } from "../reading/context.ts";
import { knownDetails } from "../reading/details.ts";
import { type Found, NO_POSITION } from "../reading/found.ts";
import { isMembers, type Members } from "../reading/members.ts";
import { readTimeMs } from "../reading/time.ts";
import { readMagnitude, readNumber, readText } from "../reading/values.ts";

/*
 * Overland's "OwnTracks" logging mode: one object in OwnTracks' words, with a time that counts from 2001 as Apple's
 * clocks do. The app still waits for Overland's answer.
 */

const APPLE_EPOCH_MS = Date.UTC(2001, 0, 1);

/**
 * On any path. OwnTracks itself has a `tid`, and its topic a user before the device; Overland's has what was typed as
 * its device id.
 */
export function isOwnTracksMode(value: unknown): value is Members {
  return isLikeOwnTracksMode(value) && namesOf(value).length === 1;
}

/** On Overland's own path, where somebody may have typed `anna/phone` as device id, or nothing. */
export function isLikeOwnTracksMode(value: unknown): value is Members {
  if (!isMembers(value) || value._type !== "location") return false;
  return value.tid === undefined && value._id === undefined;
}

export function findInOwnTracksMode(members: Members, { arrivedMs, os, user }: MessageContext): Found {
  if ((members.lat ?? members.lon ?? null) === null) return NO_POSITION;
  const [first = null, second = null] = namesOf(members);
  return {
    device: readText(second ?? first),
    user: second === null ? user : readText(first),
    timestampMs: nearerToArrival(readTimeMs(members.tst), arrivedMs),
    latitude: readNumber(members.lat),
    longitude: readNumber(members.lon),
    details: knownDetails({
      horizontal_accuracy: readMagnitude(members.acc),
      battery_level: readMagnitude(members.batt),
      os,
    }),
  };
}

/** What follows `owntracks` in the topic: a device, or a user and a device. */
function namesOf({ topic }: Members): readonly string[] {
  return typeof topic === "string" ? topic.split("/", 3).slice(1) : [];
}

/** The time as it was sent, or counted from 2001: whichever lies closer to when the message came. */
function nearerToArrival(sentMs: number | null, arrivedMs: number): number | null {
  if (sentMs === null) return null;
  const appleMs = sentMs + APPLE_EPOCH_MS;
  return Math.abs(appleMs - arrivedMs) < Math.abs(sentMs - arrivedMs) ? appleMs : sentMs;
}
