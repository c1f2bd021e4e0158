import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "./earth.ts";

/**
 * Positions as integers: Web Mercator, with the world divided into 2^32 units, 9 mm each at the equator. Differences of
 * two such numbers are exact, and those of x wrap around the world by 32-bit overflow, so ±180° is not special.
 */
export const WORLD_SIZE = 2 ** 32;

/** The edge of Web Mercator, in degrees. Positions beyond it are drawn at the edge. */
export const LATITUDE_MAX = 85.0511287798066;

export function worldX(longitude: number): number {
  return Math.floor(((longitude + 180) / 360) * WORLD_SIZE) >>> 0; // Modulo 2^32.
}

/** Increases to the south. */
export function worldY(latitude: number): number {
  const sine = Math.sin(Math.max(-LATITUDE_MAX, Math.min(LATITUDE_MAX, latitude)) * RADIANS_PER_DEGREE);
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  return Math.max(0, Math.min(WORLD_SIZE - 1, Math.floor(y * WORLD_SIZE)));
}

/** In [-180, 180). */
export function longitudeOf(x: number): number {
  return (x / WORLD_SIZE) * 360 - 180;
}

export function latitudeOf(y: number): number {
  return Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / WORLD_SIZE))) / RADIANS_PER_DEGREE;
}

/** The world's width in CSS pixels at MapLibre's zoom 0. */
export const WORLD_PIXELS = 512;

/** What a CSS pixel of a map shows, in meters. */
export function pixelMetersAt({
  latitude,
  zoom,
}: {
  readonly latitude: number;
  readonly zoom: number;
}): number {
  const equatorMeters = 2 * Math.PI * EARTH_RADIUS_METERS;
  return (equatorMeters * Math.cos(latitude * RADIANS_PER_DEGREE)) / (WORLD_PIXELS * 2 ** zoom);
}
