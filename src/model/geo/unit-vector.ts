import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "./distance.ts";

/*
 * Positions as points of the unit sphere, where poles and the meridian of 180° are not special: positions can be added,
 * and the middle of several is the direction of their sum. A chord is the straight line through the earth between two
 * points, in radii.
 */

export interface UnitVector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export function unitVector(latitude: number, longitude: number): UnitVector {
  const lat = latitude * RADIANS_PER_DEGREE;
  const lon = longitude * RADIANS_PER_DEGREE;
  const cosLat = Math.cos(lat);
  return { x: cosLat * Math.cos(lon), y: cosLat * Math.sin(lon), z: Math.sin(lat) };
}

/** The point in the direction of a sum of positions, which must not be 0. */
export function inDirectionOf(x: number, y: number, z: number): UnitVector {
  const length = Math.sqrt(x * x + y * y + z * z);
  return { x: x / length, y: y / length, z: z / length };
}

export function latitudeOf({ x, y, z }: UnitVector): number {
  return Math.atan2(z, Math.sqrt(x * x + y * y)) / RADIANS_PER_DEGREE;
}

export function longitudeOf({ x, y }: UnitVector): number {
  return Math.atan2(y, x) / RADIANS_PER_DEGREE;
}

/** A cheap measure that grows with the distance of two points. */
export function squaredChord(a: UnitVector, b: UnitVector): number {
  const x = a.x - b.x;
  const y = a.y - b.y;
  const z = a.z - b.z;
  return x * x + y * y + z * z;
}

/** The squared chord of two points at this distance along a great circle. */
export function squaredChordOf(meters: number): number {
  return (2 * Math.sin(Math.min(meters / (2 * EARTH_RADIUS_METERS), Math.PI / 2))) ** 2;
}

export function metersBetween(a: UnitVector, b: UnitVector): number {
  return 2 * EARTH_RADIUS_METERS * Math.asin(Math.min(1, Math.sqrt(squaredChord(a, b)) / 2));
}

/* Long lines of positions are in arrays, three numbers each. */

/** Writes a position, given in degrees, at an index. */
export function setUnitVector(
  vectors: Float64Array,
  index: number,
  latitude: number,
  longitude: number,
): void {
  const north = latitude * RADIANS_PER_DEGREE;
  const east = longitude * RADIANS_PER_DEGREE;
  const cosLatitude = Math.cos(north);
  vectors[3 * index] = cosLatitude * Math.cos(east);
  vectors[3 * index + 1] = cosLatitude * Math.sin(east);
  vectors[3 * index + 2] = Math.sin(north);
}

export function copyUnitVector(from: Float64Array, index: number, to: Float64Array, at: number): void {
  to[3 * at] = from[3 * index]!;
  to[3 * at + 1] = from[3 * index + 1]!;
  to[3 * at + 2] = from[3 * index + 2]!;
}

export function squaredChordAt(
  ofOne: Float64Array,
  one: number,
  ofOther: Float64Array,
  other: number,
): number {
  const x = ofOne[3 * one]! - ofOther[3 * other]!;
  const y = ofOne[3 * one + 1]! - ofOther[3 * other + 1]!;
  const z = ofOne[3 * one + 2]! - ofOther[3 * other + 2]!;
  return x * x + y * y + z * z;
}
