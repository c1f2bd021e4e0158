/** Mean radius of the earth (IUGG), taken as a sphere: distances are within 0.56 % of the ellipsoid's. */
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
  const cosLats = Math.cos(latA * RADIANS_PER_DEGREE) * Math.cos(latB * RADIANS_PER_DEGREE);
  const haversine = sinHalfLat * sinHalfLat + cosLats * sinHalfLon * sinHalfLon;
  return 2 * EARTH_RADIUS_METERS * Math.asin(Math.sqrt(Math.min(1, haversine))); // Rounding may pass 1 at antipodes.
}

/** Direction in which the great circle leaves A for B: degrees clockwise from north, 0 to before 360; 0 where A is B. */
export function initialBearingDegrees(latA: number, lonA: number, latB: number, lonB: number): number {
  const stepLon = longitudeStep(lonA, lonB) * RADIANS_PER_DEGREE;
  const radA = latA * RADIANS_PER_DEGREE;
  const radB = latB * RADIANS_PER_DEGREE;
  const east = Math.sin(stepLon) * Math.cos(radB);
  const north = Math.cos(radA) * Math.sin(radB) - Math.sin(radA) * Math.cos(radB) * Math.cos(stepLon);
  const degrees = Math.atan2(east, north) / RADIANS_PER_DEGREE;
  const turned = degrees < 0 ? degrees + 360 : degrees;
  return turned < 360 ? turned + 0 : 0; // A hair west of north rounds up to 360; adding 0 makes 0 of -0.
}

/** Degrees east from A to B the short way round, -180 to 180: +180 and -180 are one meridian, 0 apart. */
function longitudeStep(lonA: number, lonB: number): number {
  const step = lonB - lonA;
  if (step > 180) return step - 360;
  if (step < -180) return step + 360;
  return step;
}
