import { RADIANS_PER_DEGREE } from "../model/geo/distance.ts";

/**
 * Web mercator, EPSG:3857: the world as a square, x from 0 at -180° to 1 at 180°, y from 0 in the north to 1 in the
 * south. It ends at 85.05112878° north and south; positions beyond that are moved to its edge.
 */
export const MERCATOR_LATITUDE_MAX = Math.atan(Math.sinh(Math.PI)) / RADIANS_PER_DEGREE;

export function mercatorX(longitude: number): number {
  return (longitude + 180) / 360;
}

export function mercatorY(latitude: number): number {
  const sine = Math.sin(latitude * RADIANS_PER_DEGREE);
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
  return Math.min(1, Math.max(0, y));
}

export function longitudeAt(x: number): number {
  return x * 360 - 180;
}

export function latitudeAt(y: number): number {
  return Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) / RADIANS_PER_DEGREE;
}

/** The column of x, or the row of y, in a world of 2^bits columns and rows; at most 30 bits. */
export function cellAt(along: number, bits: number): number {
  const cells = 2 ** bits;
  return Math.min(cells - 1, Math.floor(along * cells)); // The far edge belongs to the last cell.
}
