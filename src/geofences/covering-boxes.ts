import { type Box, boxesBetween, MARGIN_RADIANS } from "../model/geo/box.ts";
import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "../model/geo/distance.ts";
import type { Frame } from "./frame.ts";

/** One or two boxes that contain these frames, what is between them, and `bufferMeters` around. */
export function coveringBoxes(frames: readonly Frame[], bufferMeters: number): readonly Box[] {
  const [west, east] = shortestStretch(frames);
  const minLatitude = Math.min(...frames.map((frame) => frame.minLatitude));
  const maxLatitude = Math.max(...frames.map((frame) => frame.maxLatitude));
  return boxesAround({ west, east, minLatitude, maxLatitude }, bufferMeters);
}

/** Like `coveringBoxes`, but for one frame, without lists: most areas have one, and each record near a fence asks. */
export function boxesAround(frame: Frame, bufferMeters: number): readonly Box[] {
  const angle = bufferMeters / EARTH_RADIUS_METERS + MARGIN_RADIANS;
  const angleDegrees = angle / RADIANS_PER_DEGREE;
  const minLatitude = frame.minLatitude - angleDegrees;
  const maxLatitude = frame.maxLatitude + angleDegrees;
  // What contains a pole crosses every meridian.
  if (minLatitude <= -90 || maxLatitude >= 90)
    return boxesBetween(Math.max(-90, minLatitude), Math.min(90, maxLatitude), -180, 180);
  const nearestPole = Math.max(-minLatitude, maxLatitude) * RADIANS_PER_DEGREE;
  const reach = Math.asin(Math.min(1, Math.sin(angle) / Math.cos(nearestPole))) + MARGIN_RADIANS;
  const turns = 360 * Math.floor((frame.west + 180) / 360);
  return boxesBetween(
    minLatitude,
    maxLatitude,
    frame.west - turns - reach / RADIANS_PER_DEGREE,
    frame.east - turns + reach / RADIANS_PER_DEGREE,
  );
}

/** The shortest stretch of longitudes with all frames: all but the widest gap between them. */
function shortestStretch(frames: readonly Frame[]): readonly [west: number, east: number] {
  const stretches = frames
    .map(({ west, east }) => {
      const turns = 360 * Math.floor((west + 180) / 360);
      return [west - turns, east - turns] as const;
    })
    .sort(([a], [b]) => a - b);
  const firstWest = stretches[0]![0];
  let [gap, gapWest, gapEast] = [-Infinity, 0, 0];
  let reached = -Infinity;
  for (const [index, [, east]] of stretches.entries()) {
    reached = Math.max(reached, east);
    const next = stretches[index + 1]?.[0] ?? firstWest + 360;
    if (next - reached <= gap) continue;
    gap = next - reached;
    [gapWest, gapEast] = [reached, next];
  }
  return gap <= 0 ? [-180, 180] : [gapEast - 360, gapWest];
}
