import { RADIANS_PER_DEGREE } from "./earth.ts";

/**
 * Places as whole numbers: Web Mercator, with the width of the world cut into 2^32 parts of 9 mm each at the equator.
 * Differences of two such numbers are exact, and those of x go round the world by the overflow of 32 bits alone, so
 * that ±180° is a place like any other.
 */
export const WORLD_SIZE = 2 ** 32;

/** Where Web Mercator ends, degrees: what is nearer to a pole is drawn here. */
export const LATITUDE_MAX = 85.0511287798066;

export function worldX(longitude: number): number {
  return Math.floor(((longitude + 180) / 360) * WORLD_SIZE) >>> 0; // Modulo 2^32.
}

/** Grows to the south. */
export function worldY(latitude: number): number {
  const sine = Math.sin(Math.max(-LATITUDE_MAX, Math.min(LATITUDE_MAX, latitude)) * RADIANS_PER_DEGREE);
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  return Math.max(0, Math.min(WORLD_SIZE - 1, Math.floor(y * WORLD_SIZE)));
}

/** From -180, included, to 180, excluded. */
export function longitudeOf(x: number): number {
  return (x / WORLD_SIZE) * 360 - 180;
}

export function latitudeOf(y: number): number {
  return Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / WORLD_SIZE))) / RADIANS_PER_DEGREE;
}
