/** Mean radius of the earth (IUGG) as a sphere: distances differ by up to 0.56 % from the ellipsoid's. */
export const EARTH_RADIUS_METERS = 6_371_008.8;

export const METERS_PER_MILE = 1609.344;

export const RADIANS_PER_DEGREE = Math.PI / 180;

/**
 * Great-circle distance in meters between two points given in degrees. The haversine form stays accurate for
 * points a few meters apart; the law of cosines loses them to rounding.
 */
export function haversineMeters(latA: number, lonA: number, latB: number, lonB: number): number {
  const sinHalfLat = Math.sin(((latB - latA) * RADIANS_PER_DEGREE) / 2);
  const sinHalfLon = Math.sin((longitudeStep(lonA, lonB) * RADIANS_PER_DEGREE) / 2);
  const cosLats = cosLatitude(latA) * cosLatitude(latB);
  const haversine = sinHalfLat * sinHalfLat + cosLats * sinHalfLon * sinHalfLon;
  return 2 * EARTH_RADIUS_METERS * Math.asin(Math.sqrt(Math.min(1, haversine))); // Rounding may pass 1 at antipodes.
}

/** Initial direction of the great circle from A to B: degrees clockwise from north, 0 to before 360; 0 if A is B. */
export function initialBearingDegrees(latA: number, lonA: number, latB: number, lonB: number): number {
  const stepLon = longitudeStep(lonA, lonB) * RADIANS_PER_DEGREE;
  const cosA = cosLatitude(latA);
  const cosB = cosLatitude(latB);
  const sinA = Math.sin(latA * RADIANS_PER_DEGREE);
  const sinB = Math.sin(latB * RADIANS_PER_DEGREE);
  const east = Math.sin(stepLon) * cosB;
  const north = cosA * sinB - sinA * cosB * Math.cos(stepLon);
  if (east === 0 && north === 0) return 0; // A is B, and atan2 would make a direction of a zero's sign.
  const degrees = Math.atan2(east, north) / RADIANS_PER_DEGREE;
  const turned = degrees < 0 ? degrees + 360 : degrees;
  return turned < 360 ? turned + 0 : 0; // Slightly west of north may round to 360; adding 0 turns -0 into 0.
}

/**
 * Exactly 0 at a pole, which is one point for every longitude. `Math.cos` gives 6e-17 there, since no double is a right
 * angle, so longitudes would put the pole up to a nanometer away from itself.
 */
function cosLatitude(latitude: number): number {
  return Math.abs(latitude) === 90 ? 0 : Math.cos(latitude * RADIANS_PER_DEGREE);
}

/** Degrees east from A to B the short way round, -180 to 180. The meridians +180 and -180 are 0 apart. */
function longitudeStep(lonA: number, lonB: number): number {
  const step = lonB - lonA;
  if (step > 180) return step - 360;
  if (step < -180) return step + 360;
  return step;
}
