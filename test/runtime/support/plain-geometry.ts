import { EARTH_RADIUS_METERS } from "../../http/endpoints.ts";

/** The haversine formula as textbooks write it. */
export function metersBetween(latA: number, lonA: number, latB: number, lonB: number): number {
  const [a, b] = [radians(latA), radians(latB)];
  const haversine =
    Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(radians(lonB - lonA) / 2) ** 2;
  return 2 * EARTH_RADIUS_METERS * Math.atan2(Math.sqrt(haversine), Math.sqrt(1 - haversine));
}

/** In which direction the great circle leaves A for B, clockwise from north. */
export function bearingDegrees(latA: number, lonA: number, latB: number, lonB: number): number {
  const [a, b, step] = [radians(latA), radians(latB), radians(lonB - lonA)];
  const east = Math.sin(step) * Math.cos(b);
  const north = Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(step);
  return ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360;
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}
