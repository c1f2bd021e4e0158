import { RADIANS_PER_DEGREE } from "./distance.ts";

/**
 * Positions as unit vectors, three numbers each, for which neither poles nor the antimeridian are anything special. The
 * chord between two is the straight way through the earth, in its radii.
 */

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

export function squaredChord(ofOne: Float64Array, one: number, ofOther: Float64Array, other: number): number {
  const x = ofOne[3 * one]! - ofOther[3 * other]!;
  const y = ofOne[3 * one + 1]! - ofOther[3 * other + 1]!;
  const z = ofOne[3 * one + 2]! - ofOther[3 * other + 2]!;
  return x * x + y * y + z * z;
}
