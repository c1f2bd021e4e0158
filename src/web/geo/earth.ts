/* Positions on the Earth. Like the server, the page treats it as a sphere. */

/** A position in degrees, as in GeoJSON. Longitudes may exceed ±180. */
export type Position = [longitude: number, latitude: number];

/** Degrees. */
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

export const EARTH_RADIUS_METERS = 6_371_008.8;
export const RADIANS_PER_DEGREE = Math.PI / 180;
/** The length of a degree of a meridian. */
export const METERS_PER_DEGREE = EARTH_RADIUS_METERS * RADIANS_PER_DEGREE;

/** Uses the haversine formula, which stays accurate for positions close together. */
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

/** The direction from one position to another nearby, in degrees clockwise from north. */
export function bearingBetween(
  latitudeA: number,
  longitudeA: number,
  latitudeB: number,
  longitudeB: number,
): number {
  const east = nearestMeridian(longitudeB, longitudeA) - longitudeA;
  const width = Math.cos(((latitudeA + latitudeB) / 2) * RADIANS_PER_DEGREE);
  return (Math.atan2(east * width, latitudeB - latitudeA) / RADIANS_PER_DEGREE + 360) % 360;
}

/** Adds full turns to a longitude until it is at most 180° from another one. */
export function nearestMeridian(longitude: number, other: number): number {
  return longitude - 360 * Math.round((longitude - other) / 360);
}

/** Moves each longitude to within 180° of the previous one, so that a line across ±180° does not jump back. */
export function unwrapped(positions: readonly Position[]): Position[] {
  let before = positions[0]?.[0] ?? 0;
  return positions.map(([longitude, latitude]) => {
    before = nearestMeridian(longitude, before);
    return [before, latitude];
  });
}
