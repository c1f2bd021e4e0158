import {
  EARTH_RADIUS_METERS,
  haversineMeters,
  initialBearingDegrees,
} from "../../../../../src/model/geo/distance.ts";

type Place = readonly [timestampMs: number, latitude: number, longitude: number];

/** How far a position is from the great circle between two, by spherical trigonometry. */
export function metersToLine([, latA, lonA]: Place, [, latB, lonB]: Place, [, lat, lon]: Place): number {
  const toA = haversineMeters(latA, lonA, lat, lon);
  const toB = haversineMeters(latB, lonB, lat, lon);
  const length = haversineMeters(latA, lonA, latB, lonB) / EARTH_RADIUS_METERS;
  const bearing = initialBearingDegrees(latA, lonA, lat, lon) - initialBearingDegrees(latA, lonA, latB, lonB);
  const angle = (bearing * Math.PI) / 180;
  const along = Math.atan2(
    Math.cos(angle) * Math.sin(toA / EARTH_RADIUS_METERS),
    Math.cos(toA / EARTH_RADIUS_METERS),
  );
  if (along <= 0 || along >= length) return Math.min(toA, toB);
  return EARTH_RADIUS_METERS * Math.abs(Math.asin(Math.sin(toA / EARTH_RADIUS_METERS) * Math.sin(angle)));
}
