import { type Bounds, isInside } from "../geo/bounds.ts";
import { bearingBetween, metersBetween, nearestMeridian, type Place } from "../geo/earth.ts";
import type { Track } from "./track.ts";

/** A mark on the line that points where the device went. */
export interface DirectionMark extends Place {
  /** Degrees clockwise from north. */
  readonly bearing: number;
}

/** Movements within this share of the spacing are the error of fixes, so they have no direction. */
const JITTER = 1 / 6;

/**
 * Marks along the line, `spacingMeters` apart, of those inside the bounds. A device that stands has none, whatever its
 * fixes do.
 */
export function directionMarks(
  track: Track,
  spacingMeters: number,
  bounds: Bounds,
): readonly DirectionMark[] {
  const marks: DirectionMark[] = [];
  const { latitude, longitude } = track;
  let from = 0;
  let dueMeters = spacingMeters / 2;
  for (let index = 1; index < track.count; index++) {
    if (!track.isJoined(index)) {
      from = index;
      dueMeters = spacingMeters / 2;
      continue;
    }
    const ends = [latitude[from]!, longitude[from]!, latitude[index]!, longitude[index]!] as const;
    const meters = metersBetween(...ends);
    if (meters < spacingMeters * JITTER) continue;
    const bearing = bearingBetween(...ends);
    // Only a way without positions between is straight. Of another, the last position is surely on the line.
    const isStraight = index === from + 1;
    for (; dueMeters <= meters; dueMeters += spacingMeters) {
      const part = isStraight ? dueMeters / meters : 1;
      const east = nearestMeridian(ends[3], ends[1]) - ends[1];
      const mark = { latitude: ends[0] + part * (ends[2] - ends[0]), longitude: ends[1] + part * east };
      if (isInside(mark, bounds)) marks.push({ ...mark, bearing });
      if (isStraight) continue;
      dueMeters += Math.max(spacingMeters, meters - dueMeters + 1); // One mark at most, at this position.
      break;
    }
    dueMeters -= meters;
    from = index;
  }
  return marks;
}
