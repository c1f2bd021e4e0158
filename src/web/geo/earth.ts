/* The Earth as the server measures it: a sphere. */

export const EARTH_RADIUS_METERS = 6_371_008.8;
export const RADIANS_PER_DEGREE = Math.PI / 180;
/** Of a meridian. */
export const METERS_PER_DEGREE = EARTH_RADIUS_METERS * RADIANS_PER_DEGREE;

/** By the haversine formula, which stays accurate for what lies close together. */
export function metersBetween(
  latitudeA: number,
  longitudeA: number,
  latitudeB: number,
  longitudeB: number,
): number {
  const a = latitudeA * RADIANS_PER_DEGREE;
  const b = latitudeB * RADIANS_PER_DEGREE;
  const halfLatitude = Math.sin((b - a) / 2);
  const halfLongitude = Math.sin(((longitudeB - longitudeA) * RADIANS_PER_DEGREE) / 2);
  const chord = halfLatitude ** 2 + Math.cos(a) * Math.cos(b) * halfLongitude ** 2;
  return 2 * EARTH_RADIUS_METERS * Math.asin(Math.sqrt(Math.min(1, chord)));
}

/** The same meridian, at most half the Earth from another. */
export function nearestMeridian(longitude: number, other: number): number {
  return longitude - 360 * Math.round((longitude - other) / 360);
}
