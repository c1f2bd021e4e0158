import { nearestMeridian } from "../geo/earth.ts";
import type { Track } from "./track.ts";

/** Where a device was at an instant, as its track has it. */
export interface Head {
  readonly latitude: number;
  readonly longitude: number;
  /** Degrees clockwise from north, the way it went; null where it never moved. */
  readonly bearing: number | null;
}

/**
 * Between two positions it went evenly, where a line leads from one to the other. Where none does it stays at the one
 * before: what happened in between nobody knows. Null before the first.
 */
export function headAt(track: Track, ms: number): Head | null {
  const index = track.indexAt(ms);
  if (index < 0) return null;
  const { timestampMs, latitude, longitude } = track;
  const fromMs = timestampMs[index]!;
  const part = track.isJoined(index + 1) ? (ms - fromMs) / (timestampMs[index + 1]! - fromMs) : 0;
  const bearing = bearingAt(track, part > 0 ? index + 1 : index);
  if (part === 0) return { latitude: latitude[index]!, longitude: longitude[index]!, bearing };
  const east = nearestMeridian(longitude[index + 1]!, longitude[index]!) - longitude[index]!;
  return {
    latitude: latitude[index]! + part * (latitude[index + 1]! - latitude[index]!),
    longitude: nearestMeridian(longitude[index]! + part * east, 0),
    bearing,
  };
}

/** The way to a position from the last other one, along the line that it is of. */
function bearingAt(track: Track, index: number): number | null {
  const { latitude, longitude } = track;
  for (let at = index; track.isJoined(at); at--) {
    const north = latitude[at]! - latitude[at - 1]!;
    const east = nearestMeridian(longitude[at]!, longitude[at - 1]!) - longitude[at - 1]!;
    if (north === 0 && east === 0) continue;
    const degrees = (Math.atan2(east * Math.cos((latitude[at]! * Math.PI) / 180), north) * 180) / Math.PI;
    return (degrees + 360) % 360;
  }
  return null;
}
