import { metersBetween } from "../geo/earth.ts";
import type { Stay } from "../history/story.ts";
import type { Track } from "../history/track.ts";

/** The server's smallest circle is smaller, but positions scatter. */
const RADIUS_METERS_MIN = 50;
/** A stop reaches no further, however its positions scatter. */
const RADIUS_METERS_MAX = 300;
/** The share of the positions of a stop that its circle holds. */
const SHARE_INSIDE = 0.95;
const MARGIN = 1.3;
const STEP_METERS = 10;

/** The radius of a circle that holds almost all positions of a stop, with a margin, in steps of ten meters. */
export function stopRadiusMeters(
  { stop, startMs, endMs }: Pick<Stay, "stop" | "startMs" | "endMs">,
  {
    timestampMs,
    latitude,
    longitude,
    count,
  }: Pick<Track, "timestampMs" | "latitude" | "longitude" | "count">,
): number {
  const meters: number[] = [];
  for (let index = 0; index < count; index++) {
    if (timestampMs[index]! < startMs || timestampMs[index]! > endMs) continue;
    meters.push(metersBetween(stop.latitude, stop.longitude, latitude[index]!, longitude[index]!));
  }
  meters.sort((a, b) => a - b);
  const reach = meters[Math.floor((meters.length - 1) * SHARE_INSIDE)] ?? 0;
  const radius = Math.ceil((reach * MARGIN) / STEP_METERS) * STEP_METERS;
  return Math.max(RADIUS_METERS_MIN, Math.min(RADIUS_METERS_MAX, radius));
}
