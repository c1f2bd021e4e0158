import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "./distance.ts";

/** A rectangle of latitudes and longitudes in degrees, all four edges included; it never crosses ±180. */
export interface Box {
  readonly minLatitude: number;
  readonly maxLatitude: number;
  readonly minLongitude: number;
  readonly maxLongitude: number;
}

/** Whether a position in degrees is on the earth; false for NaN. */
export function isOnEarth(latitude: number, longitude: number): boolean {
  return latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180;
}

/**
 * Added to the circle on all sides, about 0.6 m. It exceeds every rounding error, including some 1e-8 rad of a
 * haversine near the antipode, and extends a box that ends on ±180 to the other side, where the same meridian has the
 * other sign.
 */
export const MARGIN_RADIANS = 1e-7;

/**
 * One or two boxes that contain every point within the radius, by `haversineMeters`, of a center in degrees. They are
 * as tight as the margin allows; their corners are outside the circle.
 */
export function circleBoxes(latitude: number, longitude: number, radiusMeters: number): readonly Box[] {
  const angle = radiusMeters / EARTH_RADIUS_METERS + MARGIN_RADIANS;
  const angleDegrees = angle / RADIANS_PER_DEGREE;
  const minLatitude = Math.max(-90, latitude - angleDegrees);
  const maxLatitude = Math.min(90, latitude + angleDegrees);

  // A circle around a pole crosses every meridian.
  if (minLatitude === -90 || maxLatitude === 90) return [band(minLatitude, maxLatitude, -180, 180)];

  // The circle is widest where a meridian touches it, which is nearer to the pole than the center.
  const sine = Math.sin(angle) / Math.cos(latitude * RADIANS_PER_DEGREE);
  const reachDegrees = (Math.asin(Math.min(1, sine)) + MARGIN_RADIANS) / RADIANS_PER_DEGREE;
  return boxesBetween(minLatitude, maxLatitude, longitude - reachDegrees, longitude + reachDegrees);
}

/** One or two boxes from `west` to `east`, of which one may be up to a turn beyond ±180. */
export function boxesBetween(
  minLatitude: number,
  maxLatitude: number,
  west: number,
  east: number,
): readonly Box[] {
  if (east - west >= 360) return [band(minLatitude, maxLatitude, -180, 180)];
  if (west <= -180) return acrossAntimeridian(minLatitude, maxLatitude, west + 360, east);
  if (east >= 180) return acrossAntimeridian(minLatitude, maxLatitude, west, east - 360);
  return [band(minLatitude, maxLatitude, west, east)];
}

/** From `west` to +180, and from -180 to `east`. */
function acrossAntimeridian(
  minLatitude: number,
  maxLatitude: number,
  west: number,
  east: number,
): readonly Box[] {
  return [band(minLatitude, maxLatitude, -180, east), band(minLatitude, maxLatitude, west, 180)];
}

function band(minLatitude: number, maxLatitude: number, minLongitude: number, maxLongitude: number): Box {
  return { minLatitude, maxLatitude, minLongitude, maxLongitude };
}

/**
 * Whether all that lies in the boxes is farther from a position than this. It may be false for a little more, since it
 * compares latitudes and distances from meridians.
 */
export function areFarFrom(
  boxes: readonly Box[],
  latitude: number,
  longitude: number,
  meters: number,
): boolean {
  const angle = meters / EARTH_RADIUS_METERS + MARGIN_RADIANS;
  const angleDegrees = angle / RADIANS_PER_DEGREE;
  for (const { minLatitude, maxLatitude, minLongitude, maxLongitude } of boxes) {
    if (latitude < minLatitude - angleDegrees || latitude > maxLatitude + angleDegrees) continue;
    if (longitude >= minLongitude && longitude <= maxLongitude) return false;
    const west = Math.sin((minLongitude - longitude) * RADIANS_PER_DEGREE);
    const east = Math.sin((maxLongitude - longitude) * RADIANS_PER_DEGREE);
    const sine = Math.min(Math.abs(west), Math.abs(east)) * Math.cos(latitude * RADIANS_PER_DEGREE);
    if (angle >= Math.PI / 2 || sine <= Math.sin(angle)) return false;
  }
  return true;
}
