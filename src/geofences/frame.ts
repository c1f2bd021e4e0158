import type { Line } from "../model/watches/area.ts";

/** A rectangle of longitudes and latitudes in degrees; `east` may be more than 180. */
export interface Frame {
  readonly west: number;
  readonly east: number;
  readonly minLatitude: number;
  readonly maxLatitude: number;
}

/** The rectangle around lines, whose longitudes may go on beyond ±180°. */
export function frameOf(lines: readonly Line[]): Frame {
  let [west, east, minLatitude, maxLatitude] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const line of lines)
    for (let at = 0; at < line.length; at += 2) {
      west = Math.min(west, line[at]!);
      east = Math.max(east, line[at]!);
      minLatitude = Math.min(minLatitude, line[at + 1]!);
      maxLatitude = Math.max(maxLatitude, line[at + 1]!);
    }
  return { west, east, minLatitude, maxLatitude };
}
