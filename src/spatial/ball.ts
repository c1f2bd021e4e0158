import type { Box } from "../model/geo/box.ts";
import { RADIANS_PER_DEGREE } from "../model/geo/distance.ts";

/** A ball around a cell of the unit sphere: its center, a point of the sphere, and the longest chord from there. */
export interface Ball {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly radius: number;
}

/** Outweighs the rounding of cells' edges and of chords, some 1e-15. */
const MARGIN = 1e-9;

/** A ball that holds all points of a box. */
export function ballAround({ minLatitude, maxLatitude, minLongitude, maxLongitude }: Box): Ball {
  const south = minLatitude * RADIANS_PER_DEGREE;
  const north = maxLatitude * RADIANS_PER_DEGREE;
  const halfWidth = ((maxLongitude - minLongitude) / 2) * RADIANS_PER_DEGREE;
  const latitude = (south + north) / 2;
  const longitude = minLongitude * RADIANS_PER_DEGREE + halfWidth;
  const cosLatitude = Math.cos(latitude);
  const cosMax = south < 0 && north > 0 ? 1 : Math.max(Math.cos(south), Math.cos(north));
  const square = Math.sin((north - south) / 4) ** 2 + cosLatitude * cosMax * Math.sin(halfWidth / 2) ** 2;
  return {
    x: cosLatitude * Math.cos(longitude),
    y: cosLatitude * Math.sin(longitude),
    z: Math.sin(latitude),
    radius: 2 * Math.sqrt(square) + MARGIN,
  };
}
