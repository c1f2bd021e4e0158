import { EARTH_RADIUS_METERS, RADIANS_PER_DEGREE } from "./distance.ts";

/*
 * Positions as points of the unit sphere, for which neither the poles nor the meridian of 180° are anything special:
 * they can be added, and the middle of many is the direction of their sum. The chord between two is the straight way
 * through the earth, in its radii.
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

/** The point in the direction of a sum of positions; they must not lie all around the globe. */
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

/** Grows with the distance of two points, and costs a few multiplications. */
export function squaredChord(a: UnitVector, b: UnitVector): number {
  const x = a.x - b.x;
  const y = a.y - b.y;
  const z = a.z - b.z;
  return x * x + y * y + z * z;
}

/** Between points that are this far apart along a great circle. */
export function squaredChordOf(meters: number): number {
  return (2 * Math.sin(Math.min(meters / (2 * EARTH_RADIUS_METERS), Math.PI / 2))) ** 2;
}

/** Along a great circle. */
export function metersBetween(a: UnitVector, b: UnitVector): number {
  return 2 * EARTH_RADIUS_METERS * Math.asin(Math.min(1, Math.sqrt(squaredChord(a, b)) / 2));
}

/* Long lines of positions lie in arrays, three numbers each. */

/** Sets the position of an index, given in degrees. */
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

/** Copies a position from an index of one array to an index of another. */
export function copyUnitVector(from: Float64Array, index: number, to: Float64Array, at: number): void {
  to[3 * at] = from[3 * index]!;
  to[3 * at + 1] = from[3 * index + 1]!;
  to[3 * at + 2] = from[3 * index + 2]!;
}

/** The square of the chord between one position and another, each by its array and index. */
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
